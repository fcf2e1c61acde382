#pragma once
// Summaries of many run files at once: from the caches of their experiments' folders where those know the file, else
// read by all cores.

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/store/summary_cache.hpp"
#include "framework/train/trial.hpp"

namespace jari {

struct IndexedRun {
  std::optional<RunSummary> summary;
  std::string error;  // why there is none: missing, damaged, no run file
};

// In the order of `files`, which are run files. Caches (framework/store/summary_cache.hpp) are used and brought up to
// date in folders that `jari run` made, those with a sweep.yaml; files elsewhere are read each time.
std::vector<IndexedRun> index_runs(const std::vector<std::filesystem::path>& files,
                                   std::chrono::nanoseconds settling = kSettling);

// Whether a run file with these attributes is this trial's and tells of its end.
bool tells_of_end(const RunAttributes& attributes, const Trial& trial);

// For each trial whether its run file is there and tells of this trial, to its end. A damaged one does not count.
std::vector<bool> finished_trials(const std::filesystem::path& experiment_folder, std::span<const Trial> trials);

}  // namespace jari
