#pragma once
// What repeated trials of one cell say together.

#include <cstdint>
#include <optional>
#include <span>

namespace jari {

inline constexpr double kConfidence = 0.95;  // of every interval

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

// 95 % interval of a success rate, Wilson (1927): honest for few trials and for rates of 0 and 1, where the textbook's
// interval has no width. 0 <= successes <= count, count >= 1.
Interval wilson_interval(std::int64_t successes, std::int64_t count);

// Two clusters with nothing between them, such as seeds that found the solution and seeds that did not: at least eight
// values, and the widest gap between neighbors, with two or more values on either side, takes more than half of the
// range and a tenth of the largest magnitude. Eight normal draws look so three times in a hundred, twenty practically
// never. Gives the middle of the gap. Nothing if a value is not finite.
std::optional<double> gap_between_modes(std::span<const double> values);

}  // namespace jari
