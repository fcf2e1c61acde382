#include "framework/report/paired_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/files.hpp"

namespace jari {
namespace {

nlohmann::json golden(const char* part) {
  return nlohmann::json::parse(test::read_text(test::source_path("tests/golden/inference.json")))[part];
}

TEST(SignFlipTest, EqualsScipyAndCountsUpToForty) {
  for (const auto& each : golden("sign_flip")) {
    const SignFlipTest test = sign_flip_test(each["differences"].get<std::vector<double>>());
    EXPECT_TRUE(test.exact);
    EXPECT_NEAR(test.p, each["p"].get<double>(), 1e-14) << each;
  }
}

// Fisher (1935), section 21: 863 of 32,768 on either side.
TEST(SignFlipTest, FindsFishersNumberForDarwinsMaize) {
  const std::vector<double> differences = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
  EXPECT_EQ(sign_flip_test(differences).p, 2 * 863 / 32768.0);
}

TEST(SignFlipTest, TakesRoundingForATie) {
  // 0.1 + 0.2 - 0.3 is 5.6e-17 in floating point; so many sums here are equal but for their last bits.
  const std::vector<double> tenths = {0.1, 0.2, 0.3, -0.3, 0.3, 0.1}, whole = {1, 2, 3, -3, 3, 1};
  EXPECT_EQ(sign_flip_test(tenths).p, sign_flip_test(whole).p);
}

TEST(SignFlipTest, IsOneWithoutAnyDifference) {
  EXPECT_EQ(sign_flip_test(std::vector<double>(7, 0.0)).p, 1);
  EXPECT_EQ(sign_flip_test(std::vector<double>{1, -1}).p, 1);
  EXPECT_EQ(sign_flip_test(std::vector<double>(60, 0.0)).p, 1);
}

TEST(SignFlipTest, ReachesTheSmallestPWhenAllDifferencesHaveOneSign) {
  for (const std::size_t count : {1, 2, 5, 20, 40})
    EXPECT_EQ(sign_flip_test(std::vector<double>(count, -0.25)).p, std::ldexp(1.0, 1 - static_cast<int>(count)));
}

TEST(SignFlipTest, IsCloseToTheExactOneAboveForty) {
  for (const auto& each : golden("sign_flip_large")) {
    const SignFlipTest test = sign_flip_test(each["differences"].get<std::vector<double>>());
    EXPECT_FALSE(test.exact);
    const double p = each["p"];
    EXPECT_NEAR(test.p, p, 4 * std::sqrt(p * (1 - p) / kLeastSignFlips) + 1.0 / kLeastSignFlips);
    EXPECT_EQ(sign_flip_test(each["differences"].get<std::vector<double>>()).p, test.p);
  }
  EXPECT_EQ(sign_flip_test(std::vector<double>(41, 1.0), 999).p, 0.001);
}

// McNemar's exact test: 9 pairs in which only one succeeds, 8 of them the same one; binomial, two-sided.
TEST(SignFlipTest, IsMcNemarsOfSuccesses) {
  EXPECT_EQ(sign_flip_test(std::vector<double>{1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, -1}).p, 2 * (1 + 9) / 512.0);
}

TEST(Holm, EqualsStatsmodels) {
  for (const auto& each : golden("holm")) {
    const auto adjusted = holm(each["p"].get<std::vector<double>>());
    ASSERT_EQ(adjusted.size(), each["adjusted"].size());
    for (std::size_t i = 0; i < adjusted.size(); ++i)
      EXPECT_NEAR(adjusted[i], each["adjusted"][i].get<double>(), 1e-15);
  }
  EXPECT_TRUE(holm({}).empty());
}

TEST(FewestPairs, CanReachFivePercent) {
  EXPECT_EQ(fewest_pairs(1), 6);  // 1 / 32
  EXPECT_EQ(fewest_pairs(2), 7);
  EXPECT_EQ(fewest_pairs(19), 10);
  for (const std::int64_t comparisons : {1, 2, 3, 19, 499}) {
    const auto smallest_holm = [&](std::int64_t pairs) {
      std::vector<double> p_values(static_cast<std::size_t>(comparisons), 1.0);
      p_values.front() = sign_flip_test(std::vector<double>(static_cast<std::size_t>(pairs), 1.0)).p;
      return holm(p_values).front();
    };
    EXPECT_LE(smallest_holm(fewest_pairs(comparisons)), kSignificance);
    EXPECT_GT(smallest_holm(fewest_pairs(comparisons) - 1), kSignificance);
  }
}

TEST(PairsForPower, EqualStatsmodels) {
  for (const auto& each : golden("power")) {
    EXPECT_EQ(pairs_for_power(each["effect"], each["significance"]), each["pairs"].get<std::int64_t>()) << each;
    EXPECT_EQ(pairs_for_power(-each["effect"].get<double>(), each["significance"]), each["pairs"].get<std::int64_t>());
  }
}

// What G*Power's manual and most textbooks print for one sample, two-sided, 5 %, power 0.8.
TEST(PairsForPower, EqualThePrintedOnes) {
  EXPECT_EQ(pairs_for_power(0.2, 0.05), 199);
  EXPECT_EQ(pairs_for_power(0.5, 0.05), 34);
  EXPECT_EQ(pairs_for_power(0.8, 0.05), 15);
}

TEST(PairsForPower, AreNoneForWhatTooManyWouldBeNeededFor) {
  EXPECT_EQ(pairs_for_power(0, 0.05), std::nullopt);
  EXPECT_EQ(pairs_for_power(1e-4, 0.05), std::nullopt);
  EXPECT_EQ(pairs_for_power(std::nan(""), 0.05), std::nullopt);
  EXPECT_EQ(pairs_for_power(0.0281, 0.05), 9943);
}

TEST(PairsForPower, AreFewForADifferenceWithoutScatter) {
  EXPECT_EQ(pairs_for_power(std::numeric_limits<double>::infinity(), 0.05), 2);
}

}  // namespace
}  // namespace jari
