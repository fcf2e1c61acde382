#pragma once
// Runs what is missing of a sweep, on the cards or the cores of this machine.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/store/run_file.hpp"
#include "framework/sweep/sweep.hpp"
#include "framework/train/progress.hpp"
#include "framework/train/trainer.hpp"

namespace jari {

struct LaunchOptions {
  std::filesystem::path runs = "runs";             // the experiment's folder goes below it
  int threads = 0;                                 // 0: all cores
  bool force = false;                              // train finished trials again
  bool wait = false;                               // for another process that writes the folder, instead of refusing
  std::vector<std::shared_ptr<Device>> devices{};  // cards; none: the cores
  TrainOptions train{};                            // `profile` and `stop` are set by the launcher
  bool profile = false;
};

struct LaunchResult {
  std::filesystem::path folder;        // of the experiment
  std::vector<TrialOutcome> outcomes;  // of the trials that were trained now
  std::size_t already_done = 0;
  bool stopped = false;  // a trial failed and the spec says to stop then
  struct GroupProfile {
    const TrialGroup* group;
    std::unique_ptr<Profile> profile;
  };
  std::vector<GroupProfile> profiles;  // of the groups that were trained now, if asked for
};

// Trials that train side by side on this many cores.
std::size_t trials_a_batch(int cores);

// Throws StoreError before anything is trained if the folder belongs to another spec, is locked, or can not be written.
LaunchResult launch(Sweep& sweep, const SpecNode& spec, const Provenance& provenance, const LaunchOptions& options,
                    Progress& progress);

// Cards that train one trial together (`train.data_parallel`).
std::size_t cards_a_trial(const TrialPrograms& programs);

// Trials of a group that train at once on a card with that much free memory; at least one.
std::size_t trials_on_card(const TrialPrograms& programs, std::size_t free_bytes, std::size_t wanted);

// The cards that the sweep is to be trained on, as devices_of() of each of its groups. Throws DeviceError.
std::vector<std::shared_ptr<Device>> devices_of(const Sweep& sweep);

int usable_cores();

}  // namespace jari
