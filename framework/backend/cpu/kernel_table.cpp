// From an op to its CPU kernel. The table comes from ops.def, so a missing kernel is a link error.

#include <fmt/format.h>

#include <unordered_map>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

std::unique_ptr<Kernel> make_cpu_kernel(const KernelRequest& request) {
  using Make = std::unique_ptr<Kernel> (*)(const KernelRequest&);
  static const std::unordered_map<const Op*, Make> table = {
#define JARI_OP(name) {&op_##name, make_cpu_##name},
#include "framework/ops/ops.def"
#undef JARI_OP
  };
  const auto found = table.find(request.op);
  if (found == table.end()) throw DeviceError(fmt::format("{}: the CPU has no kernel for this op", request.op->name));
  return found->second(request);
}

}  // namespace jari
