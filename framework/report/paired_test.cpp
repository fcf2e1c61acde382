#include "framework/report/paired_test.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <iterator>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/base/philox.hpp"

namespace jari {
namespace {

constexpr double kPower = 0.8;
constexpr std::uint64_t kSeed = 1935, kStream = 2;

// The sums of all 2^n ways to sign `values`, ascending. Each value merges two sorted lists: no sort is needed.
std::vector<double> signed_sums(std::span<const double> values) {
  std::vector<double> sums = {0}, next;
  for (const double value : values) {
    const double step = std::abs(value);
    next.resize(2 * sums.size());
    auto low = sums.begin(), high = sums.begin();  // the next of sums - step, of sums + step
    for (double& slot : next) {
      const bool takes_low = low != sums.end() && (high == sums.end() || *low - step <= *high + step);
      slot = takes_low ? *low++ - step : *high++ + step;
    }
    sums.swap(next);
  }
  return sums;
}

// The share of the ways to sign all values whose sum is at least `bound`.
double share_at_least(std::span<const double> differences, double bound) {
  const auto half = differences.size() / 2;
  const std::vector<double> left = signed_sums(differences.first(half)), right = signed_sums(differences.subspan(half));
  // The larger the sum of the left half, the smaller that of the right may be.
  std::uint64_t count = 0;
  std::size_t first = right.size();  // right[first] and all after it are large enough
  for (const double sum : left) {
    while (first > 0 && sum + right[first - 1] >= bound) --first;
    count += right.size() - first;
  }
  return static_cast<double>(count) / static_cast<double>(left.size()) / static_cast<double>(right.size());
}

// Sums of randomly signed values, eight values a look-up.
class RandomSignedSums {
 public:
  explicit RandomSignedSums(std::span<const double> values) : tables_((values.size() + 7) / 8) {
    for (std::size_t t = 0; t < tables_.size(); ++t)
      for (std::size_t signs = 0; signs < 256; ++signs)
        for (std::size_t i = 8 * t; i < std::min(8 * t + 8, values.size()); ++i)
          tables_[t][signs] += (signs >> (i % 8) & 1) != 0 ? -values[i] : values[i];
  }

  double sum(std::uint32_t resample) const {
    const RandomStream random{kSeed, kStream, resample};
    double sum = 0;
    for (std::size_t t = 0; t < tables_.size(); t += 16) {
      const PhiloxBlock block = random.block(static_cast<std::uint32_t>(t / 16));
      for (std::size_t i = t; i < std::min(t + 16, tables_.size()); ++i)
        sum += tables_[i][block.word[i % 16 / 4] >> (8 * (i % 4)) & 255];
    }
    return sum;
  }

 private:
  std::vector<std::array<double, 256>> tables_;
};

double power_of(double effect, double significance, std::int64_t pairs) {
  const auto count = static_cast<double>(pairs);
  const double critical = boost::math::quantile(boost::math::students_t(count - 1), 1 - significance / 2);
  const boost::math::non_central_t statistic(count - 1, effect * std::sqrt(count));
  return boost::math::cdf(boost::math::complement(statistic, critical)) + boost::math::cdf(statistic, -critical);
}

}  // namespace

SignFlipTest sign_flip_test(std::span<const double> differences, std::int64_t resamples) {
  JARI_ASSERT(!differences.empty(), "there is nothing to test");
  double sum = 0, magnitude = 0;
  for (const double difference : differences) {
    JARI_ASSERT(std::isfinite(difference), "the differences of a sign-flip test are finite");
    sum += difference;
    magnitude += std::abs(difference);
  }
  const double bound = std::abs(sum) - 1e-12 * magnitude;
  if (bound <= 0) return {1, true};
  // The distribution is symmetric: as many sums lie far below 0 as above.
  if (differences.size() <= kMostExactPairs) return {std::min(1.0, 2 * share_at_least(differences, bound)), true};
  const RandomSignedSums sums(differences);
  std::int64_t as_far = 0;
  for (std::int64_t i = 0; i < resamples; ++i)
    as_far += std::abs(sums.sum(static_cast<std::uint32_t>(i))) >= bound ? 1 : 0;
  return {static_cast<double>(as_far + 1) / static_cast<double>(resamples + 1), false};
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> ascending(p_values.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::ranges::stable_sort(ascending, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < ascending.size(); ++rank) {
    const auto left = static_cast<double>(ascending.size() - rank);
    largest = std::max(largest, std::min(1.0, left * p_values[ascending[rank]]));
    adjusted[ascending[rank]] = largest;
  }
  return adjusted;
}

std::int64_t fewest_pairs(std::int64_t comparisons) {
  std::int64_t pairs = 1;
  while (std::ldexp(1.0, static_cast<int>(1 - pairs)) * static_cast<double>(comparisons) > kSignificance) ++pairs;
  return pairs;
}

std::optional<std::int64_t> pairs_for_power(double effect, double significance) {
  effect = std::min(std::abs(effect), 50.0);  // the noncentral t of a larger one is not computable, and changes nothing
  const auto enough = [&](std::int64_t pairs) { return power_of(effect, significance, pairs) >= kPower; };
  // The normal approximation (Guenther 1981) is off by one or two.
  const boost::math::normal normal;
  const double z = boost::math::quantile(normal, 1 - significance / 2);
  const double ratio = (z + boost::math::quantile(normal, kPower)) / effect;
  const double guess = ratio * ratio + z * z / 2;
  if (!(guess < 2 * static_cast<double>(kMostPairsNeeded))) return std::nullopt;
  auto pairs = std::max<std::int64_t>(2, std::llround(guess));
  while (pairs > 2 && enough(pairs - 1)) --pairs;
  while (!enough(pairs)) ++pairs;
  if (pairs > kMostPairsNeeded) return std::nullopt;
  return pairs;
}

}  // namespace jari
