#include "framework/ops/ops.hpp"

namespace jari {

const std::vector<const Op*>& all_ops() {
  static const std::vector<const Op*> ops = {
#define JARI_OP(name) &op_##name,
#include "framework/ops/ops.def"
#undef JARI_OP
  };
  return ops;
}

}  // namespace jari
