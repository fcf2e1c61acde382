#include "framework/component/init.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/base/hash.hpp"
#include "framework/base/philox.hpp"

namespace jari {
namespace {

std::vector<double> filled(const Initializer& init, std::size_t size, std::uint64_t seed = 1,
                           const std::string& path = "model/table") {
  std::vector<double> out(size);
  init->fill({seed, path, Shape{static_cast<std::int64_t>(size)}, nullptr}, out);
  return out;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(Init, NormalHasItsMomentsAndTails) {
  const std::vector<double> values = filled(normal(2), 200'000);
  EXPECT_NEAR(mean_of(values), 0, 0.02);
  EXPECT_NEAR(deviation_of(values), 2, 0.02);
  const auto beyond = std::count_if(values.begin(), values.end(), [](double x) { return std::abs(x) > 4; });
  EXPECT_NEAR(static_cast<double>(beyond) / 200'000, 0.0455, 0.002);  // outside two standard deviations
}

TEST(Init, UniformFillsItsIntervalEvenly) {
  const std::vector<double> values = filled(uniform(-1, 3), 100'000);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -1);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 3);
  EXPECT_NEAR(mean_of(values), 1, 0.02);
  EXPECT_NEAR(deviation_of(values), 4 / std::sqrt(12), 0.02);
}

TEST(Init, NormalIsBoxMullerOnTheParametersStream) {
  const RandomStream random{9, hash64("model/table"), 0};
  const PhiloxBlock block = random.block(1);
  const double radius = std::sqrt(-2 * std::log(1 - uniform_f64(block.word[0], block.word[1])));
  const double angle = 2 * std::acos(-1.0) * uniform_f64(block.word[2], block.word[3]);
  const std::vector<double> values = filled(normal(1), 4, 9);
  EXPECT_DOUBLE_EQ(values[2], radius * std::cos(angle));
  EXPECT_DOUBLE_EQ(values[3], radius * std::sin(angle));
}

TEST(Init, ALongerParameterStartsWithTheNumbersOfAShorterOne) {
  for (const Initializer& init : {normal(1), uniform(0, 1)}) {
    const std::vector<double> shorter = filled(init, 7), longer = filled(init, 12);
    EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
  }
}

TEST(Init, SeedAndPathChooseTheNumbers) {
  for (const Initializer& init : {normal(1), uniform(0, 1)}) {
    EXPECT_EQ(filled(init, 8, 1, "a"), filled(init, 8, 1, "a"));
    EXPECT_NE(filled(init, 8, 1, "a"), filled(init, 8, 2, "a"));
    EXPECT_NE(filled(init, 8, 1, "a"), filled(init, 8, 1, "b"));
  }
}

TEST(Init, ZerosAndConstantAreWhatTheySay) {
  EXPECT_EQ(filled(zeros(), 3), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(filled(constant_init(1.5), 2), (std::vector<double>{1.5, 1.5}));
}

}  // namespace
}  // namespace jari
