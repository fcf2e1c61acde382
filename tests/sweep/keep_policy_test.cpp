#include "framework/sweep/keep_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "framework/store/run_file.hpp"
#include "framework/sweep/launcher.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;

const std::string kSweep = std::string(kSmallSpec) + "seeds: 3\nsweep: {grid: {model.position: [sin, rope]}}\n";

// What is left of a sweep's six trials: value of the metric, weights, checkpoint.
struct Left {
  std::string scheme;
  double value;
  bool weights, checkpoint;
};

std::vector<Left> left_after(const std::vector<std::string>& overrides, const TemporaryFolder& runs) {
  ParsedSweep parsed = sweep_of(kSweep, overrides);
  Progress silent;
  const LaunchResult result = launch(parsed.sweep, parsed.spec, {}, {.runs = runs.path(), .threads = 2}, silent);
  std::vector<Left> left;
  for (const Trial& trial : parsed.sweep.trials) {
    const std::filesystem::path folder = result.folder / trial.folder;
    const RunRecord record = read_run_file(folder / "run.h5");
    double loss = 0;
    for (const MetricSeries& series : record.metrics) {
      if (series.name == "evaluate/same/loss") loss = series.values.back();
    }
    left.push_back({trial.label.substr(0, trial.label.find(',')), loss, !record.weights.empty(),
                    std::filesystem::exists(folder / "checkpoint.h5")});
  }
  return left;
}

TEST(KeepPolicy, AllIsTheDefaultForWeightsAndNoneForCheckpoints) {
  for (const Left& trial : left_after({}, TemporaryFolder())) {
    EXPECT_TRUE(trial.weights);
    EXPECT_FALSE(trial.checkpoint);
  }
}

TEST(KeepPolicy, NoneLeavesMetricsAlone) {
  for (const Left& trial : left_after({"keep={weights: none, checkpoints: all}"}, TemporaryFolder())) {
    EXPECT_FALSE(trial.weights);
    EXPECT_TRUE(trial.checkpoint);
  }
}

TEST(KeepPolicy, BestOfEachCombinationOfValues) {
  const auto left = left_after({"keep={weights: best, checkpoints: best, metric: evaluate/same/loss, goal: minimize}"},
                               TemporaryFolder());
  std::map<std::string, double> best;
  for (const Left& trial : left) {
    const auto [known, is_first] = best.emplace(trial.scheme, trial.value);
    if (!is_first) known->second = std::min(known->second, trial.value);
  }
  ASSERT_EQ(best.size(), 2u);
  for (const Left& trial : left) {
    EXPECT_EQ(trial.weights, trial.value == best.at(trial.scheme)) << trial.scheme << " " << trial.value;
    EXPECT_EQ(trial.checkpoint, trial.weights);
  }
}

TEST(KeepPolicy, BestOfTheSweepAndTheRestTakenAwayAfterwards) {
  const TemporaryFolder runs;
  left_after({}, runs);
  const auto left =
      left_after({"keep={weights: best, metric: evaluate/same/loss, goal: maximize, among: sweep}"}, runs);
  const auto worst = std::max_element(left.begin(), left.end(),
                                      [](const Left& one, const Left& other) { return one.value < other.value; });
  for (const Left& trial : left) EXPECT_EQ(trial.weights, &trial == &*worst);
}

TEST(DiskNeed, CountsWhatIsKept) {
  const ParsedSweep all = sweep_of(kSweep), none = sweep_of(kSweep, {"keep={weights: none}"}),
                    best = sweep_of(kSweep, {"keep={weights: best, metric: train/loss, goal: minimize}"});
  const double weights_all = disk_need(all.sweep, 1).at_end - disk_need(none.sweep, 1).at_end;
  const double weights_best = disk_need(best.sweep, 1).at_end - disk_need(none.sweep, 1).at_end;
  EXPECT_EQ(weights_all, 3 * weights_best) << "one seed of three";
  double expected = 0;
  for (const TrialGroup& group : all.sweep.groups)
    expected += 4.0 * static_cast<double>(group.programs->trained_parameters()) * 3;
  EXPECT_EQ(weights_all, expected);
  EXPECT_GT(disk_need(all.sweep, 6).while_training, disk_need(all.sweep, 1).while_training);
}

}  // namespace
}  // namespace jari
