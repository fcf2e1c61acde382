#include "framework/train/trial.hpp"

#include <cstdlib>

#include "framework/base/error.hpp"

namespace jari {

double ResolvedValues::number(const std::string& spec_path) const {
  const SpecNode* node = resolved_.find_path(spec_path);
  JARI_ASSERT(node != nullptr && node->is_scalar(), "no number at " + spec_path);
  return std::strtod(node->text.c_str(), nullptr);
}

}  // namespace jari
