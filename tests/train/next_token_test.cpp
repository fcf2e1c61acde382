// Which token is drawn: against distributions that are computed here, one token at a time.

#include "framework/train/next_token.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/base/philox.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using test::error_of;
using ::testing::ElementsAre;

const std::vector<double> kLogits = {0.5, 2.0, -1.0, 2.0, 1.0, -3.0};

std::map<std::int32_t, double> distribution(const Sampling& sampling, const std::vector<double>& logits = kLogits) {
  std::map<std::int32_t, double> result;
  for (const TokenProbability& token : next_tokens(logits, sampling)) result[token.id] = token.probability;
  return result;
}

// exp(logit / temperature) of the tokens `kept`, divided by their sum.
std::map<std::int32_t, double> softmax_of(const std::vector<std::int32_t>& kept, double temperature = 1) {
  double sum = 0;
  for (const std::int32_t id : kept) sum += std::exp(kLogits[static_cast<std::size_t>(id)] / temperature);
  std::map<std::int32_t, double> result;
  for (const std::int32_t id : kept) result[id] = std::exp(kLogits[static_cast<std::size_t>(id)] / temperature) / sum;
  return result;
}

void expect_same(const std::map<std::int32_t, double>& found, const std::map<std::int32_t, double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [id, probability] : expected) {
    ASSERT_TRUE(found.contains(id)) << id;
    EXPECT_NEAR(found.at(id), probability, 1e-14) << id;
  }
}

TEST(NextToken, HasTheSoftmaxOfTheLogits) {
  expect_same(distribution({}), softmax_of({0, 1, 2, 3, 4, 5}));
  expect_same(distribution({.temperature = 0.3}), softmax_of({0, 1, 2, 3, 4, 5}, 0.3));
  expect_same(distribution({.temperature = 5}), softmax_of({0, 1, 2, 3, 4, 5}, 5));
}

TEST(NextToken, TopKKeepsTheLikeliest) {
  expect_same(distribution({.top_k = 3}), softmax_of({1, 3, 4}));
  expect_same(distribution({.top_k = 1}), {{1, 1.0}});  // of two equal ones the lower id
  expect_same(distribution({.temperature = 2, .top_k = 4}), softmax_of({1, 3, 4, 0}, 2));
  expect_same(distribution({.top_k = 99}), softmax_of({0, 1, 2, 3, 4, 5}));
}

TEST(NextToken, TopPKeepsTheFewestThatReachIt) {
  const std::vector<std::int32_t> order = {1, 3, 4, 0, 2, 5};  // from the likeliest down
  for (const double top_p : {0.05, 0.4, 0.6, 0.8, 0.9, 0.97, 0.999}) {
    for (const double temperature : {0.5, 1.0, 3.0}) {
      const std::map<std::int32_t, double> all = softmax_of(order, temperature);
      std::vector<std::int32_t> kept;
      double sum = 0;
      for (const std::int32_t id : order) {
        if (sum < top_p) kept.push_back(id);
        sum += all.at(id);
      }
      SCOPED_TRACE(testing::Message() << "top_p " << top_p << ", temperature " << temperature);
      expect_same(distribution({.temperature = temperature, .top_p = top_p}), softmax_of(kept, temperature));
    }
  }
  expect_same(distribution({.top_p = 1}), softmax_of(order));
}

TEST(NextToken, TopPIsOfWhatTopKHasLeft) {
  // Tokens 1 and 3 have 0.755 of all together, and 0.845 of the three likeliest, where they are enough.
  expect_same(distribution({.top_p = 0.8}), softmax_of({1, 3, 4}));
  expect_same(distribution({.top_k = 3, .top_p = 0.8}), softmax_of({1, 3}));
}

TEST(NextToken, GreedyIsTheLikeliest) {
  expect_same(distribution({.greedy = true}), {{1, 1.0}});
  expect_same(distribution({.greedy = true}, {-5, -4, -3}), {{2, 1.0}});
}

TEST(NextToken, DrawsAsOftenAsProbable) {
  const std::vector<TokenProbability> tokens = next_tokens(kLogits, {.top_k = 4});
  constexpr int kDraws = 40000;
  std::map<std::int32_t, int> counts;
  for (int i = 0; i < kDraws; ++i) {
    const PhiloxBlock bits = RandomStream{7, 1, static_cast<std::uint32_t>(i)}.block(0);
    ++counts[draw(tokens, uniform_f64(bits.word[0], bits.word[1]))];
  }
  double chi_squared = 0;
  for (const TokenProbability& token : tokens) {
    const double expected = kDraws * token.probability;
    chi_squared += (counts[token.id] - expected) * (counts[token.id] - expected) / expected;
  }
  EXPECT_EQ(counts.size(), 4u);
  EXPECT_LT(chi_squared, 16.27);  // of 3 degrees of freedom, at 0.001
}

TEST(NextToken, DrawsByTheSumOfProbabilities) {
  const std::vector<TokenProbability> tokens = {{4, 0.25}, {9, 0.5}, {2, 0.25}};
  std::vector<std::int32_t> drawn;
  for (const double uniform : {0.0, 0.2499, 0.25, 0.7499, 0.75, 0.9999, 1.0}) drawn.push_back(draw(tokens, uniform));
  EXPECT_THAT(drawn, ElementsAre(4, 4, 9, 9, 2, 2, 2));
}

TEST(NextToken, RefusesLogitsThatAreNoNumbers) {
  const auto error = [](double bad) { return error_of<Error>([&] { next_tokens(std::vector<double>{0, bad}, {}); }); };
  const std::string what_to_do =
      ", so there is nothing to choose by: its weights have diverged; take a run that has not";
  EXPECT_EQ(error(std::nan("")), "the model's logit of token 1 is nan" + what_to_do);
  EXPECT_EQ(error(std::numeric_limits<double>::infinity()), "the model's logit of token 1 is inf" + what_to_do);
}

TEST(NextToken, RefusesNumbersOutOfRange) {
  const auto error = [](const Sampling& sampling) { return error_of<SpecError>([&] { sampling.check(); }); };
  const std::string temperature =
      ": expected a number above 0; --greedy takes the likeliest token, which is what temperatures tend to at 0";
  EXPECT_EQ(error({.temperature = 0}), "--temperature 0" + temperature);
  EXPECT_EQ(error({.temperature = std::nan("")}), "--temperature nan" + temperature);
  EXPECT_EQ(error({.top_k = 0}), "--top-k 0: expected 1 or more; leave it out to draw from all tokens");
  EXPECT_EQ(error({.top_p = 0}), "--top-p 0: expected a probability above 0, and 1 at most");
  EXPECT_EQ(error({.top_p = 1.5}), "--top-p 1.5: expected a probability above 0, and 1 at most");
  EXPECT_EQ(error({.temperature = 0.5, .top_k = 3, .top_p = 1}), "no error");
  const std::string beside =
      " has no effect beside --greedy, which takes the likeliest token: leave one of the two out";
  EXPECT_EQ(error({.greedy = true, .temperature = 1}), "--temperature" + beside);
  EXPECT_EQ(error({.greedy = true, .top_k = 1}), "--top-k" + beside);
  EXPECT_EQ(error({.greedy = true, .top_p = 1}), "--top-p" + beside);
}

}  // namespace
}  // namespace jari
