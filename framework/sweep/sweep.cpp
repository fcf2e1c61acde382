#include "framework/sweep/sweep.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/sweep/trial_sets.hpp"

namespace jari {
namespace {

// Optimizer patterns and the like: mistakes that show only when the parameters are known.
void check_components(const TrialPrograms& programs, const Trial& trial, Diagnostics& diagnostics) {
  if (!trial.experiment.train) return;
  const Slot<Optimizer>& optimizer = trial.experiment.train->optimizer;
  for (const ComponentError& error : optimizer->check(programs.trained_paths())) {
    const std::string path = "train.optimizer." + error.field;
    const SpecNode* node = trial.resolved.find_path(path);
    diagnostics.error(node ? node->span : optimizer.span(), path, error.message, error.hint);
  }
}

std::unique_ptr<TrialPrograms> build(const Trial& trial, const SweepOptions& options, Diagnostics& diagnostics) {
  try {
    auto programs = std::make_unique<TrialPrograms>(trial.experiment, options.rewrites);
    check_components(*programs, trial, diagnostics);
    return programs;
  } catch (const ShapeError& error) {
    // Inputs belong to no component: their sizes come from `train`.
    const SpecNode* train = trial.resolved.find("train");
    diagnostics.error(error.span() || train == nullptr ? error.span() : train->span, error.path(), error.message());
    return nullptr;
  } catch (const StoreError& error) {  // a corpus that can not be tokenized, a file that is no table
    const char* block = trial.experiment.data ? "data" : "table";
    const SpecNode* node = trial.resolved.find(block);
    diagnostics.error(node ? node->span : SourceSpan{}, block, error.what());
    return nullptr;
  }
}

void bind_trials(const Expansion& expansion, const Registry& registry, Sweep& sweep, Diagnostics& diagnostics) {
  std::set<std::string> hashes;
  const std::size_t total = expansion.cells.size();
  for (std::size_t i = 0; i < total; ++i) {
    const Expansion::Cell& cell = expansion.cells[i];
    Diagnostics own;
    Trial trial = bind_trial(cell.spec, registry, own);
    diagnostics.add_trial(own, i, total);
    if (!own.empty()) continue;
    if (!hashes.insert(trial.hash).second) continue;
    trial.index = static_cast<std::int64_t>(sweep.trials.size());
    trial.varying = cell.varying;
    trial.label = trial_label(cell.varying);
    trial.folder = trial_folder_name(trial.label, trial.hash);
    sweep.trials.push_back(std::move(trial));
  }
  std::vector<TrialView> views;
  for (const Expansion::Cell& cell : expansion.cells) views.push_back({&cell.varying, &cell.spec});
  name_trials(diagnostics, views);
}

void group_trials(Sweep& sweep, const SweepOptions& options, Diagnostics& diagnostics) {
  std::map<std::string, std::size_t> group_of_key;
  for (std::size_t i = 0; i < sweep.trials.size(); ++i) {
    const auto [found, is_first] = group_of_key.emplace(sweep.trials[i].group, sweep.groups.size());
    if (is_first) sweep.groups.emplace_back();
    sweep.groups[found->second].trials.push_back(i);
  }
  for (TrialGroup& group : sweep.groups) {
    Diagnostics own;
    group.programs = build(sweep.trials[group.trials.front()], options, own);
    for (const std::size_t trial : group.trials) diagnostics.add_trial(own, trial, sweep.trials.size());
  }
  std::vector<TrialView> views;
  for (const Trial& trial : sweep.trials) views.push_back({&trial.varying, &trial.resolved});
  name_trials(diagnostics, views);
}

}  // namespace

Sweep make_sweep(const SpecNode& spec, const Registry& registry, Diagnostics& diagnostics,
                 const SweepOptions& options) {
  Sweep sweep;
  const Expansion expansion = expand(spec, diagnostics);
  sweep.axes = expansion.axes;
  sweep.declared = expansion.cells.size();
  sweep.excluded = expansion.excluded;
  sweep.on_failure = expansion.on_failure;
  sweep.retries = expansion.retries;
  if (!diagnostics.empty() && expansion.cells.empty()) return sweep;
  bind_trials(expansion, registry, sweep, diagnostics);
  if (!diagnostics.empty()) return sweep;
  group_trials(sweep, options, diagnostics);
  sweep.experiment = sweep.trials.front().experiment.experiment;
  return sweep;
}

}  // namespace jari
