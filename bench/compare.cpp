// Makes a sweep's folder with as many runs as asked for, to measure `jari compare` on: each a copy of one run file,
// with its own cell, seed and values. For bench/compare.py.

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "framework/base/philox.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/run_file.hpp"

namespace {

namespace fs = std::filesystem;

// `key: value` at any depth, once.
void replace_value(std::string& yaml, const std::string& key, const std::string& value) {
  const std::size_t begin = yaml.find(key + ": ") + key.size() + 2;
  yaml.replace(begin, yaml.find('\n', begin) - begin, value);
}

// The cell's learning rate in the spec, the seed everywhere, every value a little other.
jari::RunRecord variant(jari::RunRecord run, std::int64_t cell, std::int64_t seed, std::int64_t index) {
  run.attributes.experiment = "many";
  run.attributes.index = index;
  run.attributes.seed = static_cast<std::uint64_t>(seed);
  run.attributes.trial = fmt::format("{:032x}", index);
  run.attributes.label = fmt::format("lr={},seed={}", cell + 1, seed);
  replace_value(run.spec_resolved, "experiment", "many");
  replace_value(run.spec_resolved, "\nseed", std::to_string(seed));
  replace_value(run.spec_resolved, "lr", fmt::format("0.{:04}", cell + 1));
  const jari::RandomStream random{static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(cell), 0};
  std::uint64_t draw = 0;
  const auto change = [&](double& value) {
    value *=
        1 + 0.01 * static_cast<double>(cell % 7) + 0.1 * jari::uniform_f64(random.bits(draw), random.bits(draw + 1));
    draw += 2;
  };
  for (jari::MetricSeries& series : run.metrics)
    for (double& value : series.values) change(value);
  for (jari::RecordAnalysis& analysis : run.analyses)
    for (auto& [name, value] : analysis.numbers) change(value);
  return run;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: bench_compare RUN_FILE FOLDER CELLS SEEDS\n");
    return 2;
  }
  try {
    const jari::RunRecord original = jari::read_run_file(argv[1]);
    const fs::path folder = fs::path(argv[2]) / "many";
    const std::int64_t cells = std::atoll(argv[3]), seeds = std::atoll(argv[4]);
    fs::create_directories(folder);
    jari::write_file_atomically(
        folder / "sweep.yaml",
        "jari: bench\nspec:\n  sweep:\n    baseline: {train.optimizer.lr: 0.0001}\ntrials: []\n");
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      for (std::int64_t seed = 1; seed <= seeds; ++seed) {
        const fs::path trial = folder / fmt::format("lr={},seed={}", cell + 1, seed);
        fs::create_directories(trial);
        jari::write_run_file(trial / "run.h5", variant(original, cell, seed, cell * seeds + seed - 1));
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  return 0;
}
