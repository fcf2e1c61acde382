#pragma once
// `jari plan`: what `jari run` would do, before it does it.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/sweep/keep_policy.hpp"
#include "framework/sweep/sweep.hpp"

namespace jari {

struct PlanOptions {
  std::filesystem::path runs = "runs";  // the experiment's folder lies below it
  int cores = 1;
  std::vector<std::shared_ptr<Device>> devices{};  // cards; none: the cores
  bool estimate_time = true;                       // otherwise no step is run
};

enum class TrialProgress { fresh, interrupted, failed, done };

struct PlannedTrial {
  TrialProgress progress = TrialProgress::fresh;
  std::int64_t step = 0;  // training goes on from it
  std::string status;     // of a trial that is done: "finished", "stopped", "diverged"
};

// Seconds on all cores of the plan, or on its cards, with their share of the evaluations.
struct TimeEstimate {
  double seconds_a_trial = 0;
  std::size_t finished_runs = 0;  // that it is taken from; 0: some steps were run to see
};

struct PlannedGroup {
  std::size_t trials = 0, missing = 0;
  std::int64_t parameters = 0;     // of a trial, trained
  std::int64_t steps = 0;          // of a trial
  std::int64_t missing_steps = 0;  // of all its trials together
  std::size_t state_bytes = 0;     // of a trial: parameters and optimizer state
  std::size_t step_bytes = 0;      // of a core: activations, inputs, workspace of the largest program
  std::size_t constant_bytes = 0;
  std::size_t at_once = 0;     // trials on a card; 0 without one
  std::size_t card_bytes = 0;  // that those take there
  std::optional<TimeEstimate> time;
};

struct SweepPlan {
  int cores = 1;
  std::vector<std::string> cards;    // their names
  std::vector<PlannedTrial> trials;  // as in the sweep
  std::vector<PlannedGroup> groups;  // as in the sweep
  DiskNeed disk;                     // of all trials, done or not

  std::size_t count(TrialProgress progress) const;
  std::size_t missing() const { return trials.size() - count(TrialProgress::done); }
  std::optional<double> seconds() const;  // of all that is missing; nothing if a group has no estimate
  double memory_bytes() const;            // at the largest group, without the program itself
};

// Plans the programs of all groups, looks into the experiment's folder and writes nothing.
SweepPlan plan_sweep(Sweep& sweep, const PlanOptions& options);

// `all`: every trial and group, however many.
std::string plan_text(const Sweep& sweep, const SweepPlan& plan, bool all = false);

// A row for each trial: folder, group, its value of each axis, state, steps, parameters, bytes, seconds.
std::string plan_csv(const Sweep& sweep, const SweepPlan& plan);

// Which trials `sweep` adds to those of `old`, which it has in common with it and which it drops, by identity.
std::string against_text(const Sweep& sweep, const Sweep& old, const std::string& old_name);

}  // namespace jari
