#include "framework/train/trial.hpp"

#include <cstdlib>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/spec/binder.hpp"

namespace jari {
namespace {

std::string hash_of(const SpecNode& form) { return hash128_hex(to_yaml(form, /*sorted=*/true)); }

}  // namespace

Trial bind_trial(const SpecNode& spec, const Registry& registry, Diagnostics& diagnostics) {
  Trial trial;
  Binder binder(&registry, diagnostics);
  binder.bind(spec, "", trial.experiment, trial.resolved);
  if (!diagnostics.empty()) return trial;
  trial.hash = hash_of(identity_form(trial.resolved));
  SpecNode group = group_form(trial.resolved);
  group.erase("seed");
  trial.group = hash_of(group);
  return trial;
}

std::string combination_of(const Trial& trial) {
  SpecNode form = identity_form(trial.resolved);
  form.erase("seed");
  return hash_of(form);
}

double ResolvedValues::number(const std::string& spec_path) const {
  const SpecNode* node = resolved_.find_path(spec_path);
  JARI_ASSERT(node != nullptr && node->is_scalar(), "no number at " + spec_path);
  return std::strtod(node->text.c_str(), nullptr);
}

}  // namespace jari
