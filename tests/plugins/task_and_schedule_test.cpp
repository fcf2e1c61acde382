#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "tests/plugins/components.hpp"
#include "tests/plugins/token_batch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using test::bound;
using test::TokenBatch;

TokenBatch batch_of(const std::string& block, std::int64_t sequences, std::int64_t length) {
  return test::batch_of(*bound<Task>(block),
                        {.stream = {.draws = 7}, .sequences = sequences, .length = length, .seed = 42, .step = 3});
}

TEST(Task, NeighborNamesTheTokenAtASignedOffset) {
  for (const int offset : {1, -1, 3, -4}) {
    const TokenBatch found = batch_of("{type: neighbor, offset: " + std::to_string(offset) + "}", 3, 6);
    for (int i = 0; i < 18; ++i) {
      const int place = i % 6 + offset;
      const bool exists = place >= 0 && place < 6;
      EXPECT_EQ(found.targets[static_cast<std::size_t>(i)],
                exists ? found.tokens[static_cast<std::size_t>(i + offset)] : -1);
    }
  }
}

TEST(Task, NeighborRefusesWhatAsksForNothing) {
  const auto task = bound<Task>("{type: neighbor, offset: -20}");
  EXPECT_EQ(task->as_sequence_task()->refuse_length(21), "");
  EXPECT_EQ(
      task->as_sequence_task()->refuse_length(20),
      "task/neighbor: with offset -20 no token of a sequence of length 20 has a neighbor; use a length of at least 21");
  const std::string error = test::error_of<SpecError>([] { bound<Task>("{type: neighbor, offset: 0}"); });
  EXPECT_NE(error.find("0 asks for the token itself"), std::string::npos) << error;
}

TEST(Task, MirrorFirstAndLastTokenLookWhereTheySay) {
  const TokenBatch mirror = batch_of("mirror", 2, 5), first = batch_of("first_token", 2, 5),
                   last = batch_of("last_token", 2, 5);
  for (std::size_t row = 0; row < 10; row += 5) {
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(mirror.targets[row + i], mirror.tokens[row + 4 - i]);
      EXPECT_EQ(first.targets[row + i], first.tokens[row]);
      EXPECT_EQ(last.targets[row + i], last.tokens[row + 4]);
    }
  }
}

TEST(Task, TokensAreUniformAndFollowFromTheirPlaceInTheBatch) {
  const TokenBatch found = batch_of("{type: mirror, vocabulary: 10}", 200, 51);
  const RandomStream random{42, 7, 3};
  std::vector<int> counts(10);
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    ASSERT_EQ(found.tokens[i], static_cast<std::int32_t>(uniform_below(random.bits(i), 10)));
    ++counts[static_cast<std::size_t>(found.tokens[i])];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1020, 150);
}

double factor(const std::string& block, std::int64_t step, std::int64_t steps) {
  return bound<Schedule>(block)->factor({step, steps});
}

TEST(Schedule, WarmUpRisesInEqualPartsToOne) {
  for (const std::string name : {"constant", "linear", "cosine"}) {
    const std::string block = "{type: " + name + ", warm_up: 4}";
    EXPECT_DOUBLE_EQ(factor(block, 0, 100), 0.25);
    EXPECT_DOUBLE_EQ(factor(block, 2, 100), 0.75);
    EXPECT_DOUBLE_EQ(factor(block, 3, 100), 1);
    EXPECT_DOUBLE_EQ(factor(block, 4, 100), 1);
    EXPECT_EQ(factor(name, 0, 100), 1);
  }
}

TEST(Schedule, ConstantStays) { EXPECT_EQ(factor("constant", 99, 100), 1); }

TEST(Schedule, LinearFallsToItsEnd) {
  EXPECT_DOUBLE_EQ(factor("linear", 50, 100), 0.5);
  EXPECT_NEAR(factor("linear", 99, 100), 0.01, 1e-15);
  EXPECT_DOUBLE_EQ(factor("{type: linear, warm_up: 20, end: 0.2}", 60, 100), 0.6);
  EXPECT_DOUBLE_EQ(factor("{type: linear, end: 0.2}", 100, 100), 0.2);
}

TEST(Schedule, CosineFallsToItsEnd) {
  EXPECT_DOUBLE_EQ(factor("cosine", 50, 100), 0.5);
  EXPECT_DOUBLE_EQ(factor("cosine", 25, 100), (1 + std::sqrt(0.5)) / 2);
  EXPECT_NEAR(factor("cosine", 100, 100), 0, 1e-15);
  EXPECT_DOUBLE_EQ(factor("{type: cosine, warm_up: 10, end: 0.1}", 55, 100), 0.55);
}

TEST(Init, NumpyNormalFillsTwoTablesFromOneGenerator) {
  const auto golden = nlohmann::json::parse(test::read_text(test::source_path("tests/golden/numpy_init.json")));
  for (const auto& example : golden.at("cases")) {
    const std::string seed = example.at("seed").dump(), std = example.at("std").dump();
    std::vector<double> expected;
    std::size_t first = 0;
    for (const char* table : {"E", "P"}) {
      const std::string skip = std::to_string(first);
      const auto init = bound<Init>("{type: numpy_normal, seed: " + seed + ", std: " + std + ", skip: " + skip + "}");
      expected.clear();
      for (const auto& row : example.at(table))
        for (const auto& value : row) expected.push_back(value.get<double>());
      std::vector<double> found(expected.size());
      init->fill({1, "table", {static_cast<std::int64_t>(found.size())}, nullptr}, found);
      EXPECT_EQ(found, expected) << table;
      first += expected.size();
    }
  }
}

TEST(Init, EachTrialMayHaveItsOwnScale) {
  class Values final : public TrialValues {
    double number(const std::string& path) const override { return path == "slot.std" ? 3 : 0; }
  };
  const auto init = bound<Init>("{type: normal, std: 1}");
  std::vector<double> one(6), three(6);
  const Values values;
  init->fill({1, "table", {6}, nullptr}, one);
  init->fill({1, "table", {6}, &values}, three);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(three[i], 3 * one[i]);
}

}  // namespace
}  // namespace jari
