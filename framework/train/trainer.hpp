#pragma once
// Trains a fused group: trials of one shape, each with its own folder, journal and checkpoints.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/thread_pool.hpp"
#include "framework/train/progress.hpp"
#include "framework/train/record.hpp"
#include "framework/train/train_options.hpp"
#include "framework/train/trial.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {

struct TrialOutcome {
  const Trial* trial = nullptr;
  std::string status;   // "finished", "stopped", "diverged", "interrupted", "failed"
  std::string message;  // why it failed
};

// Trains what is missing of each trial: goes on from a checkpoint if there is one. `folder` is the experiment's. A
// trial that fails does not stop the others; its outcome says why.
std::vector<TrialOutcome> train_group(const TrialPrograms& programs, const std::vector<const Trial*>& trials,
                                      const std::filesystem::path& folder, const Provenance& provenance,
                                      ThreadPool& pool, Progress& progress, const TrainOptions& options = {});

// First values of all parameters, for row `row` of `state`.
void initialize(State& state, int row, const Declarations& declarations, const Trial& trial);

}  // namespace jari
