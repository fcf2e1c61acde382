// The CPU's elementary functions of f32 against the standard library's in f64.

#include "framework/backend/cpu/vector_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace jari::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// In units of the last place of the exact result.
double error_of(float found, double exact) {
  const float magnitude = static_cast<float>(std::abs(exact));
  const double unit = static_cast<double>(std::nextafter(magnitude, kInfinity)) - static_cast<double>(magnitude);
  return std::abs(static_cast<double>(found) - exact) / unit;
}

template <class Function, class Exact>
double largest_error(float low, float high, const Function& function, const Exact& exact) {
  constexpr int kSamples = 400000;
  double largest = 0;
  for (int i = 0; i <= kSamples; ++i) {
    const float x = low + (high - low) * static_cast<float>(i) / kSamples;
    largest = std::max(largest, error_of(function(x), exact(static_cast<double>(x))));
  }
  return largest;
}

TEST(Exponential, IsWithinTwoUnitsInTheLastPlace) {
  const auto found = [](float x) { return exponential(x); };
  const auto exact = [](double x) { return std::exp(x); };
  EXPECT_LT(largest_error(-87.3f, 88.7f, found, exact), 2);
  EXPECT_LT(largest_error(-1, 1, found, exact), 2);
}

TEST(Exponential, KeepsTheSpecialValues) {
  EXPECT_EQ(exponential(-kInfinity), 0);
  EXPECT_EQ(exponential(-1e30f), 0);
  EXPECT_EQ(exponential(0.0f), 1);
  EXPECT_EQ(exponential(89.0f), kInfinity);
  EXPECT_EQ(exponential(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(exponential(std::numeric_limits<float>::quiet_NaN())));
}

TEST(HyperbolicTangent, IsWithinThreeUnitsInTheLastPlace) {
  const auto found = [](float x) { return hyperbolic_tangent(x); };
  const auto exact = [](double x) { return std::tanh(x); };
  EXPECT_LT(largest_error(-12, 12, found, exact), 3);
  EXPECT_LT(largest_error(-1e-3f, 1e-3f, found, exact), 3);
}

TEST(HyperbolicTangent, KeepsTheSpecialValues) {
  EXPECT_EQ(hyperbolic_tangent(0.0f), 0);
  EXPECT_EQ(hyperbolic_tangent(kInfinity), 1);
  EXPECT_EQ(hyperbolic_tangent(-kInfinity), -1);
  EXPECT_TRUE(std::isnan(hyperbolic_tangent(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace jari::cpu
