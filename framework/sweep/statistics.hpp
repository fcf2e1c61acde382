#pragma once
// What repeated trials of one cell say together.

#include <cstdint>
#include <optional>
#include <span>

namespace jari {

struct Interval {
  double low = 0, high = 0;
};

struct Statistics {
  std::int64_t count = 0;
  double mean = 0;
  double minimum = 0, maximum = 0;
  std::optional<double> standard_deviation;  // of the sample (n - 1); nothing for n = 1
  std::optional<Interval> interval;          // 95 % interval of the mean, Student (1908); nothing for n = 1
};

// `values` must not be empty. A NaN among them makes everything but the count NaN.
Statistics summarize(std::span<const double> values);

// The `probability` quantile of Student's t distribution.
double student_t_quantile(double degrees_of_freedom, double probability);

}  // namespace jari
