#include "framework/train/trial.hpp"

#include <cstdlib>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/spec/binder.hpp"

namespace jari {
namespace {

// Of a form of the resolved spec, and of the bytes of the files that its data are: trials on equal texts are equal
// wherever the files lie.
std::string hash_of(SpecNode form, const Experiment& experiment) {
  if (experiment.data) form.set("contents of data", SpecNode::scalar(experiment.data->content_hash(), true));
  return hash128_hex(to_yaml(form, /*sorted=*/true));
}

}  // namespace

Trial bind_trial(const SpecNode& spec, const Registry& registry, Diagnostics& diagnostics) {
  Trial trial;
  Binder binder(&registry, diagnostics);
  binder.bind(spec, "", trial.experiment, trial.resolved);
  if (!diagnostics.empty()) return trial;
  SpecNode group = group_form(trial.resolved);
  group.erase("seed");
  try {
    trial.hash = hash_of(identity_form(trial.resolved), trial.experiment);
    trial.group = hash_of(std::move(group), trial.experiment);
  } catch (const StoreError& error) {  // a file of the data that can not be read
    const SpecNode* data = trial.resolved.find("data");
    diagnostics.error(data ? data->span : SourceSpan{}, "data", error.what());
  }
  return trial;
}

std::string combination_of(const Trial& trial) {
  SpecNode form = identity_form(trial.resolved);
  form.erase("seed");
  return hash_of(std::move(form), trial.experiment);
}

double ResolvedValues::number(const std::string& spec_path) const {
  const SpecNode* node = resolved_.find_path(spec_path);
  JARI_ASSERT(node != nullptr && node->is_scalar(), "no number at " + spec_path);
  return std::strtod(node->text.c_str(), nullptr);
}

}  // namespace jari
