#include "framework/sweep/trial_sets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "framework/base/error.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// 3 x 2 x 2 trials: heads, width, seed.
std::vector<VaryingKeys> grid() {
  std::vector<VaryingKeys> all;
  for (const char* heads : {"1", "2", "3"})
    for (const char* width : {"16", "32"})
      for (const char* seed : {"42", "43"})
        all.push_back({{"model.heads", heads}, {"model.width", width}, {"seed", seed}});
  return all;
}

std::string text_of(const std::vector<VaryingKeys>& all, const std::function<bool(const VaryingKeys&)>& chosen) {
  std::vector<const VaryingKeys*> pointers;
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    pointers.push_back(&all[i]);
    if (chosen(all[i])) some.push_back(i);
  }
  const auto values = common_values(pointers, some);
  return values ? to_text(*values) : "nothing";
}

TEST(CommonValues, NameTheFewestAxes) {
  EXPECT_EQ(text_of(grid(), [](const auto& keys) { return keys[0].second == "3"; }), "model.heads=3");
  EXPECT_EQ(text_of(grid(), [](const auto& keys) { return keys[0].second != "2"; }), "model.heads=1 or 3");
  EXPECT_EQ(text_of(grid(), [](const auto& keys) { return keys[0].second == "3" && keys[1].second == "16"; }),
            "model.heads=3, model.width=16");
  EXPECT_EQ(text_of(grid(), [](const auto& keys) { return keys[2].second == "43"; }), "seed=43");
}

TEST(CommonValues, AreNoneWhereTheyWouldSayMoreThanIsTrue) {
  EXPECT_EQ(text_of(grid(), [](const auto& keys) { return (keys[0].second == "3") != (keys[1].second == "16"); }),
            "nothing");
}

TEST(CommonValues, OfAxesThatSomeTrialsLack) {
  std::vector<VaryingKeys> all{{{"position", "sin"}, {"seed", "1"}},
                               {{"position", "alibi"}, {"scale", "1"}, {"seed", "1"}},
                               {{"position", "alibi"}, {"scale", "2"}, {"seed", "1"}}};
  EXPECT_EQ(text_of(all, [](const auto& keys) { return keys.size() == 3; }), "position=alibi");
  EXPECT_EQ(text_of(all, [](const auto& keys) { return keys[1].second == "2"; }), "scale=2");
}

TEST(CommonValues, OfManyValuesAreCutShort) {
  std::vector<VaryingKeys> all;
  for (int i = 0; i < 20; ++i) all.push_back({{"lr", std::to_string(i)}, {"seed", "1"}});
  EXPECT_EQ(text_of(all, [](const auto& keys) { return keys[0].second.size() == 1; }),
            "lr=0, 1, 2, 3, 4 ... (10 values)");
}

std::string error(const std::string& block) {
  return test::error_of<SpecError>([&] { test::sweep_of(std::string(test::kSmallSpec) + block); });
}

TEST(FailingTrials, AreNamedWithTheExcludeThatDropsThem) {
  EXPECT_THAT(error("seeds: 2\nsweep: {grid: {model.heads: [1, 3], model.width: [12, 16, 20]}}\n"),
              HasSubstr("      = affects 2 of 12 trials: all with model.heads=3, model.width=16\n"
                        "      = to leave them out: `sweep: {exclude: [{model.heads: 3, model.width: 16}]}`\n"));
}

TEST(FailingTrials, TheExcludeThatIsOfferedDoesDropThem) {
  const std::string block = "sweep: {grid: {model.heads: [1, 5], model.width: [10, 16]}";
  ASSERT_THAT(error(block + "}\n"), HasSubstr("{exclude: [{model.heads: 5, model.width: 16}]}"));
  EXPECT_EQ(error(block + ", exclude: [{model.heads: 5, model.width: 16}]}\n"), "no error");
}

// The label "rel-unseen=clamp" is no value that a condition could name, and "rel" is that of another block too.
TEST(FailingTrials, NoExcludeIsOfferedThatWouldDropOthers) {
  const std::string text = error(
      "sweep: {grid: {model.position: [{type: rel, max_length: 12}, {type: rel, max_length: 3, unseen: clamp}, {type: "
      "rel, max_length: 0, unseen: clamp}]}}\n");
  EXPECT_THAT(text, HasSubstr("affects 1 of 3 trials: all with model.position=rel-max_length=0-unseen=clamp"));
  EXPECT_THAT(text, Not(HasSubstr("exclude")));
}

}  // namespace
}  // namespace jari
