#include "framework/train/trial.hpp"

#include <cstdlib>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/spec/binder.hpp"
#include "framework/train/token_cache.hpp"

namespace jari {
namespace {

// Of a form of the resolved spec, and of the bytes of the files that its data are: trials on equal texts are equal
// wherever the files lie.
std::string hash_of(SpecNode form, const Experiment& experiment) {
  if (experiment.data) form.set("contents of data", SpecNode::scalar(experiment.data->content_hash(), true));
  if (experiment.table) form.set("contents of table", SpecNode::scalar(experiment.table->content_hash(), true));
  const std::string model = experiment.model && *experiment.model ? (*experiment.model)->content_hash() : "";
  if (!model.empty()) form.set("contents of model", SpecNode::scalar(model, true));
  return hash128_hex(to_yaml(form, /*sorted=*/true));
}

// Steps as given, or those that epochs take.
void set_steps(Experiment& experiment, const SpecNode& resolved, Diagnostics& diagnostics) {
  if (!experiment.train) return;
  TrainSpec& train = *experiment.train;
  if (train.given_steps) train.steps = *train.given_steps;
  if (!train.epochs || !experiment.data) return;
  try {
    const std::int64_t steps =
        (*experiment.task)->steps_of_epoch(*tokenized_corpus(*experiment.data), train.batch, train.length.value_or(0));
    train.steps = *train.epochs * steps;
  } catch (const StoreError& error) {
    const SpecNode* data = resolved.find("data");
    diagnostics.error(data ? data->span : SourceSpan{}, "data", error.what());
  }
}

}  // namespace

Trial bind_trial(const SpecNode& spec, const Registry& registry, Diagnostics& diagnostics) {
  Trial trial;
  Binder binder(&registry, diagnostics);
  binder.bind(spec, "", trial.experiment, trial.resolved);
  if (!diagnostics.empty()) return trial;
  set_steps(trial.experiment, trial.resolved, diagnostics);
  SpecNode group = group_form(trial.resolved);
  group.erase("seed");
  try {
    trial.hash = hash_of(identity_form(trial.resolved), trial.experiment);
    trial.group = hash_of(std::move(group), trial.experiment);
  } catch (const StoreError& error) {  // a file that can not be read
    const SpecNode* data = trial.resolved.find(trial.experiment.data ? "data" : "table");
    diagnostics.error(data ? data->span : SourceSpan{}, trial.experiment.data ? "data" : "table", error.what());
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
