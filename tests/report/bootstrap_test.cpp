#include "framework/report/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/files.hpp"

namespace jari {
namespace {

nlohmann::json golden() {
  return nlohmann::json::parse(test::read_text(test::source_path("tests/golden/inference.json")))["bootstrap"];
}

std::optional<Interval> interval_of(const std::vector<double>& values) {
  ThreadPool pool(1);
  return bootstrap_intervals(std::vector(1, values), pool).front();
}

TEST(Bootstrap, DrawsWhatItsKeySays) {
  for (const auto& sample : golden()) {
    const auto count = static_cast<std::uint32_t>(sample["values"].size());
    for (std::uint32_t place = 0; place < 8; ++place)
      EXPECT_EQ(bootstrap_draw(0, place, count), sample["first_draws"][place]);
  }
}

TEST(Bootstrap, EqualsScipyOnTheSameResamples) {
  for (const auto& sample : golden()) {
    const auto interval = interval_of(sample["values"].get<std::vector<double>>());
    ASSERT_TRUE(interval);
    EXPECT_NEAR(interval->low, sample["same_resamples"][0].get<double>(), 1e-12);
    EXPECT_NEAR(interval->high, sample["same_resamples"][1].get<double>(), 1e-12);
  }
}

// The ends of 9,999 resamples of SciPy's own scatter by 0.03 to 0.15 standard errors of the mean, depending on the
// sample.
TEST(Bootstrap, AgreesWithAMillionResamplesOfScipyWithinTheirScatter) {
  for (const auto& sample : golden()) {
    const auto interval = interval_of(sample["values"].get<std::vector<double>>());
    const double tolerance = 0.3 * sample["standard_error"].get<double>();
    EXPECT_NEAR(interval->low, sample["scipy"][0].get<double>(), tolerance);
    EXPECT_NEAR(interval->high, sample["scipy"][1].get<double>(), tolerance);
  }
}

TEST(Bootstrap, GivesASampleTheSameIntervalInAnyCompanyAndOnAnyNumberOfThreads) {
  std::vector<std::vector<double>> samples;
  for (int s = 0; s < 70; ++s) {
    auto& sample = samples.emplace_back();
    for (int i = 0; i < 9; ++i) sample.push_back(std::sin(s * 9 + i));
  }
  ThreadPool pool(3);
  const auto together = bootstrap_intervals(samples, pool);
  for (const std::size_t s : {0, 31, 32, 69}) {
    const auto alone = interval_of(samples[s]);
    EXPECT_EQ(together[s]->low, alone->low);
    EXPECT_EQ(together[s]->high, alone->high);
  }
}

TEST(Bootstrap, HasNoIntervalForEqualOrUnboundedValues) {
  EXPECT_FALSE(interval_of(std::vector<double>(8, 0.1)));
  std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_FALSE(interval_of(values));
  values.back() = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(interval_of(values));
}

}  // namespace
}  // namespace jari
