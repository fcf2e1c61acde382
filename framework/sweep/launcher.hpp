#pragma once
// Runs what is missing of a sweep, on the cores of this machine.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/sweep/sweep.hpp"
#include "framework/train/progress.hpp"
#include "framework/train/trainer.hpp"

namespace jari {

struct LaunchOptions {
  std::filesystem::path runs = "runs";  // the experiment's folder goes below it
  int threads = 0;                      // 0: all cores
  bool force = false;                   // train finished trials again
};

struct LaunchResult {
  std::filesystem::path folder;        // of the experiment
  std::vector<TrialOutcome> outcomes;  // of the trials that were trained now
  std::size_t already_done = 0;
};

// Throws StoreError before anything is trained if the folder belongs to another spec, is locked, or can not be written.
LaunchResult launch(Sweep& sweep, const SpecNode& spec, const Provenance& provenance, const LaunchOptions& options,
                    Progress& progress);

// Whether the trial's run file is there and tells of this trial.
bool is_finished(const std::filesystem::path& experiment_folder, const Trial& trial);

int usable_cores();

}  // namespace jari
