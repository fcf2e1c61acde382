#include "framework/sweep/sweep.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "framework/store/run_directory.hpp"

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
    diagnostics.error(error.span(), error.path(), error.message());
    return nullptr;
  }
}

void bind_trials(const Expansion& expansion, const Registry& registry, Sweep& sweep, Diagnostics& diagnostics) {
  std::set<std::string> hashes;
  const int total = static_cast<int>(expansion.cells.size());
  for (const Expansion::Cell& cell : expansion.cells) {
    Diagnostics own;
    Trial trial = bind_trial(cell.spec, registry, own);
    diagnostics.add_trial(own, total > 1 ? total : 0);
    if (!own.empty()) continue;
    if (!hashes.insert(trial.hash).second) continue;
    trial.index = static_cast<std::int64_t>(sweep.trials.size());
    trial.label = trial_label(cell.labels);
    trial.folder = trial_folder_name(trial.label, trial.hash);
    sweep.trials.push_back(std::move(trial));
  }
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
    const int total = sweep.trials.size() > 1 ? static_cast<int>(sweep.trials.size()) : 0;
    for (std::size_t i = 0; i < group.trials.size(); ++i) diagnostics.add_trial(own, total);
  }
}

}  // namespace

Sweep make_sweep(const SpecNode& spec, const Registry& registry, Diagnostics& diagnostics,
                 const SweepOptions& options) {
  Sweep sweep;
  const Expansion expansion = expand(spec, diagnostics);
  sweep.axes = expansion.axes;
  sweep.declared = expansion.cells.size();
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
