#include "framework/sweep/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "framework/base/error.hpp"

namespace jari {

double student_t_quantile(double degrees_of_freedom, double probability) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), probability);
}

Statistics summarize(std::span<const double> values) {
  JARI_ASSERT(!values.empty(), "there are no statistics of nothing");
  Statistics result;
  result.count = static_cast<std::int64_t>(values.size());
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  result.mean = sum / count;
  result.minimum = *std::ranges::min_element(values);
  result.maximum = *std::ranges::max_element(values);
  if (std::isnan(result.mean)) result.minimum = result.maximum = result.mean;  // comparisons skip or keep NaN by chance
  if (values.size() == 1) return result;

  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const double deviation = std::sqrt(squares / (count - 1));
  result.standard_deviation = deviation;
  const double half_width = student_t_quantile(count - 1, 0.975) * deviation / std::sqrt(count);
  result.interval = Interval{result.mean - half_width, result.mean + half_width};
  return result;
}

}  // namespace jari
