// `random` and `sobol`: numbers against SciPy's sequence and the Mersenne twister's reference
// (tests/golden/draws.json).
#include "framework/sweep/draws.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/base/error.hpp"
#include "framework/spec/scalar.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::sweep_of;

nlohmann::json golden() { return nlohmann::json::parse(test::read_text(test::source_path("tests/golden/draws.json"))); }

Sweep sweep(const std::string& method, const std::string& space, int trials, int seed = 0) {
  return sweep_of(std::string(kSmallSpec) + "sweep: {" + method + ": {trials: " + std::to_string(trials) +
                  ", seed: " + std::to_string(seed) + ", space: {" + space + "}}}\n")
      .sweep;
}

std::vector<std::string> texts(const Sweep& sweep, const std::string& path) {
  std::vector<std::string> result;
  for (const Trial& trial : sweep.trials) result.push_back(trial.resolved.find_path(path)->text);
  return result;
}

TEST(Sobol, UnshiftedPointsAreScipys) {
  const auto expected = golden().at("sobol").get<std::vector<std::vector<double>>>();
  const auto bits = sobol_bits(expected.size(), expected.front().size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t k = 0; k < expected[i].size(); ++k) {
      EXPECT_EQ(std::ldexp(static_cast<double>(bits[i][k]), -64), expected[i][k]) << "point " << i << ", key " << k;
    }
  }
}

// A digital net stays one under a digital shift.
TEST(Sobol, ShiftedPointsFillEveryIntervalOfEveryKeyOnce) {
  const std::vector<std::string> paths{"a", "b", "c", "d", "e"};
  for (const std::int64_t seed : {0, 1, 7}) {
    const auto bits = shifted_sobol_bits(64, paths, seed);
    for (std::size_t k = 0; k < paths.size(); ++k) {
      std::set<int> intervals;
      for (const auto& point : bits) intervals.insert(static_cast<int>(unit_number(point[k]) * 64));
      EXPECT_EQ(intervals.size(), 64u) << paths[k] << ", seed " << seed;
    }
  }
  EXPECT_NE(shifted_sobol_bits(1, paths, 0), shifted_sobol_bits(1, paths, 1));
}

TEST(Random, BitsAreTheReferencesForEachKeyAndSeed) {
  for (const nlohmann::json& each : golden().at("random")) {
    const auto expected = each.at("bits").get<std::vector<std::string>>();
    const auto bits = random_bits(expected.size(), {each.at("path")}, each.at("seed"));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(bits[i][0], std::stoull(expected[i], nullptr, 16)) << each.at("path") << " " << i;
    }
  }
}

TEST(Draws, UnitNumbersLieInsideOfZeroAndOne) {
  EXPECT_EQ(unit_number(0), 0x1p-53);
  EXPECT_EQ(unit_number(~std::uint64_t{0}), 1 - 0x1p-53);
  EXPECT_EQ(unit_number(std::uint64_t{1} << 63), 0.5 + 0x1p-53);
}

TEST(Draws, MoreTrialsKeepTheFirstOnes) {
  const std::string space =
      "train.optimizer.lr: {from: 1e-4, to: 1e-1, scale: log}, model.position: {values: [sin, rope, {type: rel, "
      "max_length: !grid [12, 13]}]}";
  for (const char* method : {"random", "sobol"}) {
    const Sweep few = sweep(method, space, 5), many = sweep(method, space, 40);
    ASSERT_EQ(few.trials.size(), 5u);
    ASSERT_EQ(many.trials.size(), 40u);
    for (std::size_t i = 0; i < few.trials.size(); ++i) {
      EXPECT_EQ(few.trials[i].hash, many.trials[i].hash) << method << " " << i;
      EXPECT_EQ(few.trials[i].folder, many.trials[i].folder) << method << " " << i;
    }
  }
}

TEST(Draws, AKeyThatJoinsTheSpaceLeavesTheOthersNumbers) {
  const std::string lr = "train.optimizer.lr: {from: 1e-4, to: 1e-1, scale: log}";
  EXPECT_EQ(texts(sweep("random", lr, 6), "train.optimizer.lr"),
            texts(sweep("random", "train.optimizer.beta1: {from: 0.8, to: 0.9}, " + lr, 6), "train.optimizer.lr"));
}

TEST(Draws, NumbersAreShortAndTheLabelIsTheValue) {
  const Sweep drawn = sweep("random", "train.optimizer.lr: {from: 1e-4, to: 1e-1, scale: log}", 50, 3);
  ASSERT_EQ(drawn.trials.size(), 50u);
  int below = 0;
  for (const Trial& trial : drawn.trials) {
    const std::string& label = trial.varying.front().second;
    EXPECT_EQ(label, trial.resolved.find_path("train.optimizer.lr")->text);
    EXPECT_LE(label.size(), 10u) << label;
    const double value = parse_number(label).value();
    EXPECT_GE(value, 1e-4);
    EXPECT_LE(value, 1e-1);
    below += value < std::sqrt(1e-4 * 1e-1);
  }
  EXPECT_NEAR(below, 25, 15) << "half of the values lie below the middle of the logarithms";
}

TEST(Draws, WholeNumbersReachBothEndsAndStayWhole) {
  const auto widths = texts(sweep("sobol", "train.batch: {from: 2, to: 5}", 64), "train.batch");
  EXPECT_EQ(std::set<std::string>(widths.begin(), widths.end()), (std::set<std::string>{"2", "3", "4", "5"}));
  const auto multiples =
      texts(sweep("sobol", "model.width: {from: 6, to: 60, scale: log, multiple_of: 8}", 64), "model.width");
  EXPECT_EQ(std::set<std::string>(multiples.begin(), multiples.end()),
            (std::set<std::string>{"8", "16", "24", "32", "40", "48", "56"}));
}

TEST(Draws, EqualPointsAreOneTrial) {
  const Sweep drawn = sweep("sobol", "train.batch: {from: 2, to: 5}", 64);
  EXPECT_EQ(drawn.declared, 64u);
  EXPECT_EQ(drawn.trials.size(), 4u);
}

TEST(Draws, AreCrossedWithGridAndSeeds) {
  const auto parsed = sweep_of(std::string(kSmallSpec) + R"(seeds: 2
sweep:
  grid: {model.position: [sin, rope]}
  sobol: {trials: 4, space: {train.optimizer.lr: {from: 1e-4, to: 1e-1, scale: log}}}
)");
  EXPECT_EQ(parsed.sweep.trials.size(), 16u);
  EXPECT_EQ(parsed.sweep.groups.size(), 2u);
  EXPECT_THAT(parsed.sweep.axes, ::testing::ElementsAre("model.position", "train.optimizer.lr"));
}

}  // namespace
}  // namespace jari
