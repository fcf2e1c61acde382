#include "framework/report/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

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
  const double half_width = student_t_quantile(count - 1, (1 + kConfidence) / 2) * deviation / std::sqrt(count);
  result.interval = Interval{result.mean - half_width, result.mean + half_width};
  return result;
}

Interval wilson_interval(std::int64_t successes, std::int64_t count) {
  JARI_ASSERT(count >= 1 && successes >= 0 && successes <= count, "a success rate needs 0 <= successes <= trials");
  static const double z = boost::math::quantile(boost::math::normal(), (1 + kConfidence) / 2);
  const auto n = static_cast<double>(count);
  const double rate = static_cast<double>(successes) / n;
  const double center = (rate + z * z / (2 * n)) / (1 + z * z / n);
  const double half_width = z / (1 + z * z / n) * std::sqrt(rate * (1 - rate) / n + z * z / (4 * n * n));
  // Rounding must not leave a sliver beside the ends.
  return {successes == 0 ? 0 : center - half_width, successes == count ? 1 : center + half_width};
}

std::optional<double> gap_between_modes(std::span<const double> values) {
  constexpr std::size_t fewest_values = 8, fewest_of_a_mode = 2;
  if (values.size() < fewest_values) return std::nullopt;
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  std::size_t widest = 0;  // between sorted[widest] and the next
  for (std::size_t i = 1; i + 1 < sorted.size(); ++i)
    if (sorted[i + 1] - sorted[i] > sorted[widest + 1] - sorted[widest]) widest = i;
  const double gap = sorted[widest + 1] - sorted[widest];
  const double range = sorted.back() - sorted.front();
  const double magnitude = std::max(std::abs(sorted.front()), std::abs(sorted.back()));
  const std::size_t below = widest + 1, above = sorted.size() - below;
  if (below < fewest_of_a_mode || above < fewest_of_a_mode || gap <= range / 2 || gap <= magnitude / 10)
    return std::nullopt;
  return sorted[widest] + gap / 2;
}

}  // namespace jari
