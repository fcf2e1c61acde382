#pragma once
// Folders of runs for tests of comparisons.

#include <filesystem>
#include <string>

#include "framework/store/atomic_file.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"
#include "tests/support/files.hpp"

namespace jari::test {

class RunFolder {
 public:
  const std::filesystem::path& path() const { return runs_; }

  // A run whose spec is `position` (one line of YAML) and what else stands in `keys`.
  RunRecord record(const std::string& position, int seed, double accuracy, const std::string& keys = "") const {
    RunRecord result;
    result.attributes.experiment = "extrapolate";
    result.attributes.trial = "trial" + std::to_string(next_);
    result.attributes.index = next_;
    result.attributes.seed = static_cast<std::uint64_t>(seed);
    result.spec_resolved = "experiment: extrapolate\nseed: " + std::to_string(seed) +
                           "\nmodel:\n  type: probe\n  width: 128\n  position: " + position + "\n" + keys;
    result.metrics = {{"train/loss", {1, 2}, {9, 1 - accuracy}}, {"evaluate/longer/accuracy", {2}, {accuracy}}};
    return result;
  }
  void write(const RunRecord& run) {
    const auto folder = runs_ / ("trial" + std::to_string(next_++));
    std::filesystem::create_directories(folder);
    write_run_file(folder / kRunFile, run);
  }
  void add(const std::string& position, int seed, double accuracy, const std::string& keys = "") {
    write(record(position, seed, accuracy, keys));
  }
  // sweep.yaml with this baseline.
  void set_baseline(const std::string& yaml) const {
    write_file_atomically(runs_ / "sweep.yaml",
                          "jari: 0.1.0\nspec:\n  sweep:\n    baseline: " + yaml + "\ntrials:\n  - not read\n");
  }

 private:
  TemporaryFolder folder_;
  std::filesystem::path runs_ = folder_.path() / "extrapolate";
  int next_ = 0;
};

}  // namespace jari::test
