#include "framework/sweep/statistics.hpp"

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

}  // namespace
}  // namespace jari
