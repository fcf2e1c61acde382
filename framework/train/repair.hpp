#pragma once
// `jari repair`: makes the run file of a trial anew from its journal and its checkpoint.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/registry/registry.hpp"

namespace jari {

struct RepairReport {
  std::vector<std::string> notes;  // what was found and done, a line each
  bool made_run_file = false;
};

// `folder`: the trial's; the caller holds the experiment's lock. Nothing is thrown away: damaged files are renamed to
// <name>.damaged. The new run file has
//   status "interrupted", metrics, and the weights of the newest whole checkpoint, if the trial has not ended: `jari
//   run` still goes on from the checkpoint; status "repaired" and metrics, if it has ended and its run file is lost:
//   `jari compare` counts it, and `jari run` trains it again, to the same bits, because weights and arrays can not be
//   had back from the journal.
// StoreError if the journal does not tell which trial it is of.
RepairReport repair_trial(const std::filesystem::path& folder, const Registry& registry);

}  // namespace jari
