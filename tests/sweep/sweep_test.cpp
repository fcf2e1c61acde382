#include "framework/sweep/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::sweep_of;
using ::testing::ElementsAre;

std::vector<std::string> labels(const Sweep& sweep) {
  std::vector<std::string> result;
  for (const Trial& trial : sweep.trials) result.push_back(trial.label);
  return result;
}

TEST(Sweep, ExpandsGridsInOrderWithSeedsInnermost) {
  const auto parsed =
      sweep_of(std::string(kSmallSpec) +
               "seed: 3\nseeds: 2\nsweep: {grid: {model.width: [8, 16], model.position: [sin, {type: rope}]}}\n");
  EXPECT_THAT(labels(parsed.sweep), ElementsAre("width=8,position=sin,seed=3", "width=8,position=sin,seed=4",
                                                "width=8,position=rope,seed=3", "width=8,position=rope,seed=4",
                                                "width=16,position=sin,seed=3", "width=16,position=sin,seed=4",
                                                "width=16,position=rope,seed=3", "width=16,position=rope,seed=4"));
}

TEST(Sweep, CrossesAListWithAGrid) {
  const auto parsed = sweep_of(std::string(kSmallSpec) + R"(sweep:
  list:
    - model.width: 8
    - {model.width: 16, train.optimizer.lr: 1e-3}
  grid: {model.heads: [1, 2]}
)");
  EXPECT_THAT(labels(parsed.sweep),
              ElementsAre("width=8,heads=1,seed=42", "width=8,heads=2,seed=42", "width=16,lr=1e-3,heads=1,seed=42",
                          "width=16,lr=1e-3,heads=2,seed=42"));
}

TEST(Sweep, LabelsTellValuesOfOneNameApart) {
  const auto parsed = sweep_of(std::string(kSmallSpec) + R"(sweep:
  grid:
    model.position: [sin, {type: rel, max_length: 12}, {type: rel, max_length: 12, unseen: clamp}]
)");
  EXPECT_THAT(labels(parsed.sweep),
              ElementsAre("position=sin,seed=42", "position=rel,seed=42", "position=rel-unseen_clamp,seed=42"));
}

TEST(Sweep, GroupsTrialsThatDifferInNumbersAlone) {
  const auto parsed = sweep_of(std::string(kSmallSpec) +
                               "seeds: 3\nsweep: {grid: {train.optimizer.lr: [1e-3, 1e-2], model.width: [8, 16]}}\n");
  ASSERT_EQ(parsed.sweep.trials.size(), 12u);
  ASSERT_EQ(parsed.sweep.groups.size(), 2u);
  EXPECT_EQ(parsed.sweep.groups[0].trials.size(), 6u);
}

TEST(Sweep, EqualTrialsCollapse) {
  const auto parsed = sweep_of(std::string(kSmallSpec) + "sweep: {grid: {train.optimizer.lr: [1e-2, 0.01]}}\n");
  EXPECT_EQ(parsed.sweep.declared, 2u);
  EXPECT_EQ(parsed.sweep.trials.size(), 1u);
}

TEST(Sweep, IdentityLeavesOutWhatDoesNotChangeTheNumbers) {
  const std::string hash = sweep_of(kSmallSpec).sweep.trials[0].hash;
  for (const char* override : {"experiment=other", "description=words", "threads=3", "device=cpu", "notes=[1, 2]",
                               "train.checkpoint.every=7", "evaluate.same.batch=3", "train.schedule=constant"}) {
    EXPECT_EQ(sweep_of(kSmallSpec, {override}).sweep.trials[0].hash, hash) << override;
  }
  for (const char* override : {"seed=1", "precision=f64", "train.steps=61", "train.optimizer.lr=0.011",
                               "model.width=16", "evaluate.same.sequences=11"}) {
    EXPECT_NE(sweep_of(kSmallSpec, {override}).sweep.trials[0].hash, hash) << override;
  }
}

TEST(Sweep, AnAxisOverridesAndInterpolationFollowsIt) {
  const auto parsed = sweep_of(std::string(kSmallSpec) + "sweep: {grid: {train.length: [4, 5]}}\n",
                               {"evaluate.same.length=${train.length}", "model.position=sin"});
  EXPECT_EQ(parsed.sweep.trials[0].experiment.evaluate[0].second.length, 4);
  EXPECT_EQ(parsed.sweep.trials[1].experiment.evaluate[0].second.length, 5);
}

TEST(Sweep, RefusesAnOverrideThatAnAxisWouldHide) {
  std::string text;
  try {
    sweep_of(std::string(kSmallSpec) + "sweep: {grid: {model.position: [sin, {type: rope}]}}\n",
             {"model.position.max_length=9"});
  } catch (const SpecError& error) {
    text = error.what();
  }
  EXPECT_EQ(text,
            "override #1:1:27: error: model.position.max_length: has no effect: the sweep sets 'model.position'\n"
            "    1 | model.position.max_length=9\n"
            "      |                           ^ change the axis in the spec, or override a key that it does not set\n"
            "1 error; nothing was started.\n");
}

TEST(Sweep, CountsHowManyTrialsAnErrorAffects) {
  std::string text;
  try {
    sweep_of(std::string(kSmallSpec) + "seeds: 2\nsweep: {grid: {model.heads: [1, 3], model.width: [8, 12]}}\n");
  } catch (const SpecError& error) {
    text = error.what();
  }
  EXPECT_THAT(text, ::testing::HasSubstr("affects 2 of 8 trials"));
  EXPECT_THAT(text, ::testing::HasSubstr("1 error; nothing was started."));
}

}  // namespace
}  // namespace jari
