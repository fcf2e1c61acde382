#include "framework/report/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/files.hpp"

namespace jari {
namespace {

nlohmann::json golden() {
  return nlohmann::json::parse(test::read_text(test::source_path("tests/golden/statistics.json")));
}

void expect_close(double value, double expected) { EXPECT_NEAR(value, expected, 1e-12 * std::abs(expected)); }

TEST(Statistics, AgreeWithScipy) {
  const nlohmann::json cases = golden();
  for (const auto& sample : cases["samples"]) {
    const auto values = sample["values"].get<std::vector<double>>();
    const Statistics statistics = summarize(values);
    EXPECT_EQ(statistics.count, static_cast<std::int64_t>(values.size()));
    expect_close(statistics.mean, sample["mean"]);
    ASSERT_TRUE(statistics.standard_deviation && statistics.interval);
    expect_close(*statistics.standard_deviation, sample["sd"]);
    expect_close(statistics.interval->low, sample["ci_low"]);
    expect_close(statistics.interval->high, sample["ci_high"]);
  }
}

TEST(StudentT, AgreesWithScipy) {
  const nlohmann::json cases = golden();
  for (const auto& point : cases["student_t"])
    expect_close(student_t_quantile(point["degrees"], point["probability"]), point["quantile"]);
}

TEST(StudentT, AgreesWithThePrintedTables) {
  EXPECT_NEAR(student_t_quantile(1, 0.975), 12.706, 5e-4);
  EXPECT_NEAR(student_t_quantile(4, 0.975), 2.776, 5e-4);
  EXPECT_NEAR(student_t_quantile(19, 0.975), 2.093, 5e-4);
}

TEST(Statistics, OfOneValueHaveNoDeviationAndNoInterval) {
  const Statistics statistics = summarize(std::vector<double>{0.25});
  EXPECT_EQ(statistics.count, 1);
  EXPECT_EQ(statistics.mean, 0.25);
  EXPECT_EQ(statistics.minimum, 0.25);
  EXPECT_EQ(statistics.maximum, 0.25);
  EXPECT_EQ(statistics.standard_deviation, std::nullopt);
  EXPECT_FALSE(statistics.interval);
}

TEST(Statistics, NameTheSmallestAndTheLargest) {
  const Statistics statistics = summarize(std::vector<double>{3, -1, 2});
  EXPECT_EQ(statistics.minimum, -1);
  EXPECT_EQ(statistics.maximum, 3);
}

TEST(Statistics, DoNotHideANaN) {
  for (const auto& values : {std::vector<double>{1, std::nan(""), 3}, std::vector<double>{std::nan(""), 1, 3}}) {
    const Statistics statistics = summarize(values);
    EXPECT_TRUE(std::isnan(statistics.mean));
    EXPECT_TRUE(std::isnan(*statistics.standard_deviation));
    EXPECT_TRUE(std::isnan(statistics.interval->low));
    EXPECT_TRUE(std::isnan(statistics.minimum));
    EXPECT_TRUE(std::isnan(statistics.maximum));
  }
}

TEST(WilsonInterval, EqualsScipy) {
  const auto cases = nlohmann::json::parse(test::read_text(test::source_path("tests/golden/inference.json")))["wilson"];
  for (const auto& each : cases) {
    const Interval interval = wilson_interval(each["successes"], each["count"]);
    EXPECT_NEAR(interval.low, each["low"].get<double>(), 1e-14) << each;
    EXPECT_NEAR(interval.high, each["high"].get<double>(), 1e-14) << each;
  }
}

// Newcombe (1998), table I, method 3, in four decimals.
TEST(WilsonInterval, EqualsThePublishedTable) {
  const auto expect = [](std::int64_t successes, std::int64_t count, double low, double high) {
    const Interval interval = wilson_interval(successes, count);
    EXPECT_NEAR(interval.low, low, 5e-5);
    EXPECT_NEAR(interval.high, high, 5e-5);
  };
  expect(81, 263, 0.2553, 0.3662);
  expect(15, 148, 0.0624, 0.1605);
  expect(0, 20, 0, 0.1611);
  expect(1, 29, 0.0061, 0.1718);
}

TEST(GapBetweenModes, IsFoundBetweenTwoClusters) {
  EXPECT_NEAR(*gap_between_modes(std::vector<double>{0.1, 0.9, 0.12, 0.95, 0.11, 0.99, 0.1, 0.97}), 0.51, 1e-12);
  EXPECT_TRUE(gap_between_modes(std::vector<double>{0, 0, 1, 1, 1, 1, 1, 1}));
}

TEST(GapBetweenModes, NeedsTwoClustersOfTwoThatAreFarApart) {
  EXPECT_FALSE(gap_between_modes(std::vector<double>{0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1}));       // seven
  EXPECT_FALSE(gap_between_modes(std::vector<double>{0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9}));  // one outlier
  EXPECT_FALSE(gap_between_modes(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));                  // no gap
  EXPECT_FALSE(gap_between_modes(std::vector<double>{99, 99, 99, 99, 100, 100, 100, 100}));      // close
  EXPECT_FALSE(gap_between_modes(std::vector<double>(8, 0.5)));
  EXPECT_FALSE(gap_between_modes(std::vector<double>{0, 0, 0, 0, 1, 1, 1, std::nan("")}));
}

}  // namespace
}  // namespace jari
