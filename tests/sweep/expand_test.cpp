// Which trials a sweep declares, and in which order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "framework/base/error.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::sweep_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Sweep sweep(const std::string& block, const std::vector<std::string>& overrides = {}) {
  return sweep_of(std::string(kSmallSpec) + block, overrides).sweep;
}

// Without ",seed=42".
std::vector<std::string> labels(const Sweep& sweep) {
  std::vector<std::string> result;
  for (const Trial& trial : sweep.trials) result.push_back(trial.label.substr(0, trial.label.rfind(",seed=")));
  return result;
}

std::set<std::string> hashes(const Sweep& sweep) {
  std::set<std::string> result;
  for (const Trial& trial : sweep.trials) result.insert(trial.hash);
  return result;
}

std::string error(const std::string& block, const std::vector<std::string>& overrides = {}) {
  return test::error_of<SpecError>([&] { sweep(block, overrides); });
}

TEST(Zip, WalksItsListsTogetherAndIsCrossedWithTheGrid) {
  EXPECT_THAT(labels(sweep(R"(sweep:
  zip: {model.width: [8, 16], train.batch: [4, 2]}
  grid: {model.heads: [1, 2]}
)")),
              ElementsAre("width=8,batch=4,heads=1", "width=8,batch=4,heads=2", "width=16,batch=2,heads=1",
                          "width=16,batch=2,heads=2"));
}

TEST(Zip, SeveralAreCrossed) {
  EXPECT_THAT(labels(sweep(R"(sweep:
  zip:
    - {model.width: [8, 16], train.batch: [4, 2]}
    - {model.heads: [1, 2], train.optimizer.lr: [1e-2, 1e-3]}
)")),
              ElementsAre("width=8,batch=4,heads=1,lr=1e-2", "width=8,batch=4,heads=2,lr=1e-3",
                          "width=16,batch=2,heads=1,lr=1e-2", "width=16,batch=2,heads=2,lr=1e-3"));
}

TEST(InnerGrid, ExpandsItsOwnBlockAlone) {
  const Sweep expanded = sweep(R"(sweep:
  grid:
    model.position:
      - {type: learned, max_length: 12}
      - {type: alibi, slopes: !grid [[0.5], [0.25]], left_scale: !grid [1, 2]}
      - sin
)");
  ASSERT_EQ(expanded.trials.size(), 6u);
  std::vector<std::string> names;
  for (const Trial& trial : expanded.trials) names.push_back(trial.varying.front().second);
  EXPECT_THAT(names, ElementsAre("learned", "alibi-slopes=[0.5]-left_scale=1", "alibi-slopes=[0.5]-left_scale=2",
                                 "alibi-slopes=[0.25]-left_scale=1", "alibi-slopes=[0.25]-left_scale=2", "sin"));
  EXPECT_EQ(expanded.trials[2].resolved.find_path("model.position.left_scale")->text, "2");
}

TEST(InnerGrid, StandsInListsAndZipsToo) {
  EXPECT_EQ(sweep("sweep: {list: [{model.position: {type: alibi, slopes: [1], left_scale: !grid [1, 2, 3]}}, "
                  "{model.width: 16}]}\n")
                .trials.size(),
            4u);
  EXPECT_EQ(sweep("sweep: {zip: {model.width: [8, 16], model.position: [sin, {type: alibi, slopes: [1], left_scale: "
                  "!grid [1, 2]}]}}\n")
                .trials.size(),
            3u);
}

TEST(InnerGrid, IsKeptInTheTextOfASpec) {
  const auto parsed =
      sweep_of(std::string(kSmallSpec) +
               "sweep: {grid: {model.position: [sin, {type: alibi, slopes: [1], left_scale: !grid [1, 2]}]}}\n");
  EXPECT_EQ(hashes(sweep_of(to_yaml(parsed.spec)).sweep), hashes(parsed.sweep));
}

TEST(InnerGrid, OfTooManyValuesIsRefused) {
  std::string block;
  for (int i = 0; i < 20; ++i) block += (i ? ", k" : "k") + std::to_string(i) + ": !grid [1, 2]";
  EXPECT_THAT(error("sweep: {grid: {notes: [{" + block + "}]}}\n"), HasSubstr("stands for too many values"));
}

TEST(Exclude, DropsWhatFulfillsAllOfAnItem) {
  const Sweep expanded = sweep(R"(seeds: 2
sweep:
  grid: {model.position: [sin, {type: rel, max_length: 12}, rope], model.width: [8, 9, 16]}
  exclude:
    - {model.position: [sin, rope], model.width: 9}
    - {model.position.type: rel, model.width: 1.6e1}
)");
  EXPECT_EQ(expanded.excluded, 6u);
  EXPECT_EQ(expanded.trials.size(), 12u);
  for (const Trial& trial : expanded.trials) {
    const bool rel = trial.label.find("position=rel") != std::string::npos;
    EXPECT_TRUE(trial.label.find("width=8") != std::string::npos ||
                trial.label.find(rel ? "width=9" : "width=16") != std::string::npos)
        << trial.label;
  }
}

TEST(Exclude, MatchesSomeKeysOfABlock) {
  EXPECT_THAT(labels(sweep(R"(sweep:
  grid:
    model.position: [{type: rel, max_length: 12}, {type: rel, max_length: 12, unseen: clamp}, sin]
  exclude: [{model.position: {type: rel, unseen: clamp}}]
)")),
              ElementsAre("position=rel", "position=sin"));
}

TEST(Exclude, SeesInterpolatedValues) {
  EXPECT_THAT(labels(sweep("sweep:\n  grid: {train.length: [4, 5, 6]}\n  exclude: [{evaluate.same.length: 5}]\n",
                           {"evaluate.same.length=${train.length}"})),
              ElementsAre("length=4", "length=6"));
}

TEST(When, AddsAxesToTheTrialsThatFulfillItsCondition) {
  EXPECT_THAT(labels(sweep(R"(sweep:
  grid: {model.position: [sin, {type: alibi, slopes: [1]}, rope], model.width: [8]}
  when:
    - if: {model.position: alibi}
      grid: {model.position.left_scale: [1, 2]}
    - if: {model.position.left_scale: 2}
      zip: {train.batch: [2, 3], train.length: [4, 5]}
    - if: {model.position: rope}
      list: [{train.optimizer.lr: 1e-3}, {train.steps: 10}]
)")),
              ElementsAre("position=sin,width=8", "position=alibi,width=8,left_scale=1",
                          "position=alibi,width=8,left_scale=2,batch=2,length=4",
                          "position=alibi,width=8,left_scale=2,batch=3,length=5", "position=rope,width=8,lr=1e-3",
                          "position=rope,width=8,steps=10"));
}

TEST(When, TwoMaySetOneKeyInDifferentTrialsOnly) {
  const std::string block = R"(sweep:
  grid: {model.position: [{type: alibi, slopes: [1]}, rope]}
  when:
    - {if: {model.position: alibi}, grid: {train.optimizer.lr: [1e-2, 1e-3]}}
    - {if: {model.position: POSITION}, grid: {train.optimizer.lr: [1e-4]}}
)";
  const auto with = [&](const std::string& position) {
    std::string text = block;
    return text.replace(text.find("POSITION"), 8, position);
  };
  EXPECT_EQ(sweep(with("rope")).trials.size(), 3u);
  EXPECT_THAT(error(with("alibi")),
              HasSubstr("sweep.when.grid.train.optimizer.lr: 'train.optimizer.lr' replaces what another axis sets"));
}

TEST(Sweep, AnOverrideChangesAnAxisOrAddsOne) {
  const std::string block = "sweep: {grid: {model.width: [8, 16]}}\n";
  EXPECT_THAT(labels(sweep(block, {"sweep.grid.model.width=[4, 12]"})), ElementsAre("width=4", "width=12"));
  EXPECT_THAT(labels(sweep(block, {"sweep.grid.model.heads=[1, 2]"})),
              ElementsAre("width=8,heads=1", "width=8,heads=2", "width=16,heads=1", "width=16,heads=2"));
  EXPECT_THAT(labels(sweep("", {"sweep.grid.train.optimizer.lr=[1e-2, 1e-3]"})), ElementsAre("lr=1e-2", "lr=1e-3"));
  EXPECT_THAT(error(block, {"sweep.grid.model.widht=[4]"}), HasSubstr("unknown key 'widht'"));
}

TEST(Sweep, RefusesOverridesOfWhatAnyKindOfAxisSets) {
  for (const char* block : {"sweep: {zip: {model.width: [8, 16]}}\n",
                            "sweep: {random: {trials: 2, space: {model.width: {from: 8, to: 16, multiple_of: 2}}}}\n",
                            "sweep: {sobol: {trials: 2, space: {model.width: {values: [8, 16]}}}}\n",
                            "sweep: {when: [{if: {train.steps: 60}, grid: {model.width: [8, 16]}}]}\n"}) {
    EXPECT_THAT(error(block, {"model.width=4"}), HasSubstr("has no effect: the sweep sets 'model.width'")) << block;
  }
}

TEST(Sweep, TrialsDoNotDependOnTheOrderOfAxesNorOnThreads) {
  const Sweep first = sweep(R"(seeds: 2
sweep:
  grid: {model.width: [8, 16], model.position: [sin, {type: alibi, slopes: [1], left_scale: !grid [1, 2]}]}
  random:
    trials: 3
    seed: 5
    space: {train.optimizer.lr: {from: 1e-4, to: 1e-1, scale: log}, train.optimizer.beta1: {from: 0.8, to: 0.99}}
  exclude: [{model.position: sin, model.width: 8}]
)");
  const Sweep second = sweep(R"(seeds: 2
threads: 5
sweep:
  exclude: [{model.width: 8, model.position: sin}]
  random:
    space: {train.optimizer.beta1: {from: 0.8, to: 0.99}, train.optimizer.lr: {from: 1e-4, to: 1e-1, scale: log}}
    seed: 5
    trials: 3
  grid: {model.position: [{type: alibi, left_scale: !grid [2, 1], slopes: [1]}, sin], model.width: [16, 8]}
)");
  EXPECT_EQ(first.trials.size(), 30u);
  EXPECT_EQ(hashes(first), hashes(second));
}

}  // namespace
}  // namespace jari
