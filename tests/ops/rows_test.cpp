// Rows' maxima and exponentials against one element after the other.

#include "framework/backend/cpu/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace jari::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> row(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = 40 * std::sin(static_cast<float>(i * i % 101));
  return row;
}

TEST(Rows, FindTheirLargestElementAnywhere) {
  for (std::int64_t count = 1; count < 200; ++count) {
    std::vector<float> row = numbers(count);
    EXPECT_EQ(largest_of(row.data(), count), *std::max_element(row.begin(), row.end())) << count;
    row.back() = 50;
    EXPECT_EQ(largest_of(row.data(), count), 50) << count;
    row.front() = 60;
    EXPECT_EQ(largest_of(row.data(), count), 60) << count;
    EXPECT_EQ(largest_of(row.data(), count, 70.0f), 70) << count;
  }
}

TEST(Rows, HaveTheExponentialsOfTheirElements) {
  for (std::int64_t count = 1; count < 200; ++count) {
    std::vector<float> row = numbers(count);
    row[static_cast<std::size_t>(count / 2)] = -kInfinity;
    std::vector<float> powers(row.size());
    const float sum = exponentials(row.data(), count, 40.0f, powers.data());
    double expected = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      ASSERT_EQ(powers[i], exponential(row[i] - 40.0f)) << count << " at " << i;
      expected += static_cast<double>(powers[i]);
    }
    expected = std::max(expected, 1e-37);
    EXPECT_NEAR(static_cast<double>(sum), expected, 1e-6 * expected) << count;
    exponentials(row.data(), count, 40.0f, row.data());
    EXPECT_EQ(row, powers) << count;
  }
}

TEST(Rows, ShowNaN) {
  std::vector<float> row = numbers(50);
  row[20] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(exponentials(row.data(), 50, 40.0f, row.data())));
  EXPECT_TRUE(std::isnan(row[20]));
}

}  // namespace
}  // namespace jari::cpu
