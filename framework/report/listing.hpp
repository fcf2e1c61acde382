#pragma once
// Runs at a glance, as `jari ls` shows them: from the ends of the journals and the names of files, so that thousands of
// trials take no time. Changes nothing, takes no lock, and reads what a killed process left behind as well.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace jari {

struct ListedTrial {
  std::filesystem::path folder;
  std::string label;
  // "finished", "stopped", "diverged": there is a run file. Without one "failed", "training" (a process has the
  // experiment's lock) or "interrupted". "damaged": neither journal nor run file tells.
  std::string status;
  std::int64_t step = 0;              // of an interrupted trial, the one that it goes on from
  std::optional<std::int64_t> steps;  // that it is to make; old journals do not say
  std::optional<double> seconds;      // of training
  std::string metric;                 // what the last test is told by, else the loss; "" if there is none
  double value = 0;                   // of the metric
  std::string message;                // why it failed or diverged
  std::uintmax_t bytes = 0;           // on the disk
  std::filesystem::file_time_type last_write;
};

struct ListedExperiment {
  std::string name;
  std::filesystem::path folder;
  std::optional<std::size_t> declared;  // trials, by sweep.yaml
  std::vector<ListedTrial> trials;      // those with a folder, in the order of sweep.yaml, then by name
  std::uintmax_t bytes = 0;
  std::filesystem::file_time_type last_write;

  std::size_t count(const std::string& status) const;
  std::size_t done() const;  // finished or stopped
};

struct ListOptions {
  std::string metric;   // to show instead of the one that is chosen by itself
  bool details = true;  // checkpoints are opened, for the steps and seconds of interrupted trials
};

// The experiments' folders at `path` or directly below it. StoreError if it does not exist.
std::vector<std::filesystem::path> find_experiments(const std::filesystem::path& path);

ListedExperiment list_experiment(const std::filesystem::path& folder, const ListOptions& options = {});

}  // namespace jari
