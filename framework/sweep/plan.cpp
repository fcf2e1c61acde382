#include "framework/sweep/plan.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/store/checkpoint.hpp"
#include "framework/store/journal.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"
#include "framework/sweep/launcher.hpp"
#include "framework/sweep/plan_time.hpp"
#include "framework/sweep/run_index.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

bool last_event_is_failure(const fs::path& journal) {
  const JournalContents contents = read_journal(journal);
  const auto event = std::find_if(contents.records.rbegin(), contents.records.rend(),
                                  [](const JournalRecord& record) { return record.kind != JournalKind::metrics; });
  return event != contents.records.rend() && event->kind == JournalKind::failure;
}

// What launch() would not train again.
std::optional<RunOutline> finished_run(const fs::path& folder, const Trial& trial) {
  if (!fs::exists(folder / kRunFile)) return std::nullopt;
  try {
    RunOutline outline = read_run_outline(folder / kRunFile);
    if (tells_of_end(outline.attributes, trial)) return outline;
  } catch (const StoreError&) {
    return std::nullopt;
  }
  return std::nullopt;
}

PlannedTrial look_at_unfinished(const fs::path& folder, const Trial& trial) {
  PlannedTrial planned;
  if (!fs::exists(folder / kJournalFile)) return planned;
  const CheckpointSearch search = find_checkpoint(folder, trial.hash);
  if (search.checkpoint) planned.step = search.checkpoint->step;
  if (last_event_is_failure(folder / kJournalFile)) {
    planned.progress = TrialProgress::failed;
  } else {
    planned.progress = TrialProgress::interrupted;
  }
  return planned;
}

void add_program(const Program& program, PlannedGroup& group) {
  const PlanReport& report = program.report();
  group.step_bytes = std::max(group.step_bytes, report.arena_bytes + report.input_bytes + report.workspace_bytes);
  group.constant_bytes += report.constant_bytes;
}

class Planner {
 public:
  Planner(Sweep& sweep, const PlanOptions& options) : sweep_(sweep), options_(options) {
    plan_.cores = options.cores;
    for (const auto& device : options.devices) plan_.cards.push_back(device->info().name);
    finished_.resize(sweep.trials.size());
  }

  SweepPlan run() {
    const fs::path folder = options_.runs / sweep_.experiment;
    for (std::size_t i = 0; i < sweep_.trials.size(); ++i) look_at(folder / sweep_.trials[i].folder, i);
    for (TrialGroup& group : sweep_.groups) {
      group.programs->plan(options_.devices.empty() ? nullptr : options_.devices.front());
      plan_.groups.push_back(plan_group(group));
    }
    plan_.disk = disk_need(sweep_, trials_a_batch(options_.cores));
    return std::move(plan_);
  }

 private:
  void look_at(const fs::path& folder, std::size_t index) {
    const Trial& trial = sweep_.trials[index];
    finished_[index] = finished_run(folder, trial);
    if (!finished_[index]) {
      plan_.trials.push_back(look_at_unfinished(folder, trial));
      return;
    }
    const std::int64_t steps = trial.experiment.train ? trial.experiment.train->steps : 0;
    plan_.trials.push_back({TrialProgress::done, steps, finished_[index]->attributes.status});
  }

  PlannedGroup plan_group(const TrialGroup& group) {
    const TrialPrograms& programs = *group.programs;
    const auto& train = programs.experiment().train;
    PlannedGroup planned;
    planned.trials = group.trials.size();
    planned.parameters = programs.trained_parameters();
    if (train) {
      planned.steps = train->steps;
      planned.state_bytes = programs.train()->report().state_bytes;
      add_program(*programs.train(), planned);
    }
    for (const EvaluateProgram& evaluate : programs.evaluate()) add_program(*evaluate.program, planned);
    for (const std::size_t trial : group.trials) {
      if (plan_.trials[trial].progress == TrialProgress::done) continue;
      ++planned.missing;
      planned.missing_steps += planned.steps - plan_.trials[trial].step;
    }
    if (!options_.devices.empty() && train) {
      const std::size_t cards = options_.devices.size();
      const std::size_t most = std::max<std::size_t>(1, (planned.missing + cards - 1) / cards);
      planned.at_once = trials_on_card(programs, options_.devices.front()->info().free, most);
      planned.card_bytes = programs.device_bytes(static_cast<int>(planned.at_once));
    }
    if (train && planned.missing > 0) planned.time = estimate(group, planned.at_once);
    return planned;
  }

  std::optional<TimeEstimate> estimate(const TrialGroup& group, std::size_t at_once) {
    constexpr double kSecondsAGroup = 0.3, kSecondsInAll = 10;
    if (!options_.estimate_time) return std::nullopt;
    std::vector<RunOutline> finished;
    std::vector<const Trial*> missing;
    for (const std::size_t trial : group.trials) {
      if (!finished_[trial]) {
        missing.push_back(&sweep_.trials[trial]);
      } else if (finished_[trial]->attributes.status == "finished") {  // all of its steps
        finished.push_back(*finished_[trial]);
      }
    }
    if (const auto known = time_from_runs(finished, options_.cores)) return known;
    const double budget = std::min(kSecondsAGroup, kSecondsInAll / static_cast<double>(sweep_.groups.size()));
    const std::size_t cards = options_.devices.size();
    TimeEstimate estimate = time_by_running(*group.programs, missing, options_.cores,
                                            cards > 0 ? at_once : static_cast<std::size_t>(options_.cores), budget);
    if (cards > 1) estimate.seconds_a_trial /= static_cast<double>(cards);
    return estimate;
  }

  Sweep& sweep_;
  const PlanOptions& options_;
  std::vector<std::optional<RunOutline>> finished_;  // by trial
  SweepPlan plan_;
};

}  // namespace

std::size_t SweepPlan::count(TrialProgress progress) const {
  return static_cast<std::size_t>(std::ranges::count(trials, progress, &PlannedTrial::progress));
}

std::optional<double> SweepPlan::seconds() const {
  double sum = 0;
  for (const PlannedGroup& group : groups) {
    if (group.missing == 0) continue;
    if (!group.time) return std::nullopt;
    const double share =
        static_cast<double>(group.missing_steps) / static_cast<double>(std::max<std::int64_t>(group.steps, 1));
    sum += group.time->seconds_a_trial * (group.steps > 0 ? share : static_cast<double>(group.missing));
  }
  return sum;
}

double SweepPlan::memory_bytes() const {
  double largest = 0, constants = 0;
  for (const PlannedGroup& group : groups) {
    if (group.missing == 0) continue;
    constants += static_cast<double>(group.constant_bytes);
    largest = std::max(largest, static_cast<double>(std::min(group.missing, trials_a_batch(cores)) * group.state_bytes +
                                                    static_cast<std::size_t>(cores) * group.step_bytes));
  }
  return largest + constants;
}

SweepPlan plan_sweep(Sweep& sweep, const PlanOptions& options) { return Planner(sweep, options).run(); }

}  // namespace jari
