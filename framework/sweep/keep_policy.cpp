#include "framework/sweep/keep_policy.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/store/checkpoint.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"

namespace jari {
namespace {

bool ended_well(const RunSummary& run) {
  return run.attributes.status == "finished" || run.attributes.status == "stopped";
}

// The metric that the spec judges by; NaN if the run has none, or did not end well.
double judged_value(const RunSummary& run, const KeepSpec& keep) {
  const std::optional<double> value = run.find(keep.metric);
  return value && ended_well(run) ? *value : std::nan("");
}

bool is_better(double value, double than, Goal goal) {
  if (std::isnan(value)) return false;
  return std::isnan(than) || (goal == Goal::minimize ? value < than : value > than);
}

std::size_t element_bytes(const Trial& trial) { return size_of(real_type(trial.experiment.precision)); }

double weight_bytes(const TrialPrograms& programs, const Trial& trial) {
  std::int64_t count = 0;
  for (const ParameterDeclaration& declaration : programs.declarations().all()) {
    if (!declaration.path.starts_with("optimizer/")) count += declaration.shape.size();
  }
  return static_cast<double>(count) * static_cast<double>(element_bytes(trial));
}

double checkpoint_bytes(const TrialPrograms& programs) {
  return static_cast<double>(programs.make_state(1).bytes_per_trial());
}

// A run file and a journal without weights: HDF5's own structures, rows of metrics, the spec.
constexpr double kRecordBytes = 60e3;
constexpr double kBytesALoggedRow = 300;

double record_bytes(const Trial& trial) {
  if (!trial.experiment.train) return kRecordBytes;
  const TrainSpec& train = *trial.experiment.train;
  return kRecordBytes + kBytesALoggedRow * static_cast<double>(train.steps / train.log_every);
}

}  // namespace

void KeepPolicy::ended(const Trial& trial) {
  const KeepSpec& keep = trial.experiment.keep;
  if (keep.weights == Keep::all && keep.checkpoints != Keep::best) return;
  const std::lock_guard lock(mutex_);
  if (keep.weights != Keep::best && keep.checkpoints != Keep::best) return strip(trial);

  const double value = judged_value(read_run_summary(folder_ / trial.folder / kRunFile), keep);
  const std::string among = keep.among == Among::sweep ? "" : combination_of(trial);
  const auto [best, is_first] = best_.try_emplace(among, Best{&trial, value});
  if (is_first) return;
  const bool takes_over = is_better(value, best->second.value, keep.goal) ||
                          (!is_better(best->second.value, value, keep.goal) && trial.index < best->second.trial->index);
  if (!takes_over) return strip(trial);
  const Trial& loser = *best->second.trial;
  best->second = {&trial, value};
  strip(loser);
}

void KeepPolicy::strip(const Trial& trial) const {
  const KeepSpec& keep = trial.experiment.keep;
  const std::filesystem::path path = folder_ / trial.folder / kRunFile;
  if (keep.weights != Keep::all) {
    RunRecord record = read_run_file(path);
    if (!record.weights.empty()) {
      record.weights.clear();
      write_run_file(path, record);
    }
  }
  if (keep.checkpoints != Keep::all) remove_checkpoints(folder_ / trial.folder);
}

DiskNeed disk_need(const Sweep& sweep, std::size_t at_one_time) {
  DiskNeed need;
  std::set<std::string> combinations;
  double largest_checkpoints = 0, largest_weights = 0;
  for (const TrialGroup& group : sweep.groups) {
    const double checkpoint = checkpoint_bytes(*group.programs);
    for (const std::size_t index : group.trials) {
      const Trial& trial = sweep.trials[index];
      const KeepSpec& keep = trial.experiment.keep;
      const double weights = weight_bytes(*group.programs, trial);
      const bool wants_best = keep.weights == Keep::best || keep.checkpoints == Keep::best;
      const bool is_best =
          wants_best && combinations.insert(keep.among == Among::sweep ? "" : combination_of(trial)).second;
      need.at_end += record_bytes(trial);
      if (keep.weights == Keep::all || (keep.weights == Keep::best && is_best)) need.at_end += weights;
      if (keep.checkpoints == Keep::all || (keep.checkpoints == Keep::best && is_best)) need.at_end += checkpoint;
      const double kept = trial.experiment.train ? static_cast<double>(trial.experiment.train->checkpoint.keep) + 1 : 0;
      largest_checkpoints = std::max(largest_checkpoints, kept * checkpoint);
      if (keep.weights == Keep::best) largest_weights = std::max(largest_weights, weights);
    }
  }
  const double side_by_side = static_cast<double>(std::min(at_one_time, sweep.trials.size()));
  need.while_training = need.at_end + side_by_side * (largest_checkpoints + largest_weights);
  return need;
}

}  // namespace jari
