#include "framework/report/bootstrap.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "framework/base/error.hpp"
#include "framework/base/philox.hpp"

namespace jari {
namespace {

constexpr std::uint64_t kSeed = 1987, kStream = 1;

// Samples that are resampled side by side: each draw serves them all.
constexpr std::size_t kBlock = 32;
using BlockRow = double[kBlock];

double normal_quantile(double probability) { return boost::math::quantile(boost::math::normal(), probability); }

double normal_cdf(double z) { return boost::math::cdf(boost::math::normal(), z); }

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// From the jackknife: a sixth of the skewness of the means that leave one value out.
double acceleration_of_mean(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = mean_of(values);
  double cubes = 0, squares = 0;
  for (const double value : values) {
    const double influence = value - mean;  // (n - 1) (mean of the left-out means - this one)
    cubes += influence * influence * influence;
    squares += influence * influence;
  }
  return cubes / (count * count * count) / (6 * std::pow(squares / (count * count), 1.5));
}

// The quantile of unsorted values, interpolated linearly. Reorders them.
double take_quantile(std::vector<double>& values, double probability) {
  const double place = probability * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(place);
  const auto at = values.begin() + below;
  std::nth_element(values.begin(), at, values.end());
  const double fraction = place - static_cast<double>(below);
  if (fraction == 0 || at + 1 == values.end()) return *at;
  const double next = *std::min_element(at + 1, values.end());
  return *at + fraction * (next - *at);
}

std::optional<Interval> interval_of(const std::vector<double>& values, std::vector<double>& means) {
  const double mean = mean_of(values);
  // Sums of the same values in another order differ in their last bits, and are equal.
  double magnitude = 0;
  for (const double value : values) magnitude = std::max(magnitude, std::abs(value));
  const double rounding = 1e-14 * magnitude;
  double below = 0;
  for (const double resampled : means)
    below += resampled < mean - rounding ? 1 : (resampled <= mean + rounding ? 0.5 : 0);
  const double share = below / static_cast<double>(means.size());
  if (share <= 0 || share >= 1) return std::nullopt;
  const double bias = normal_quantile(share), acceleration = acceleration_of_mean(values);
  const auto corrected = [&](double probability) {
    const double shifted = bias + normal_quantile(probability);
    return normal_cdf(bias + shifted / (1 - acceleration * shifted));
  };
  return Interval{take_quantile(means, corrected((1 - kConfidence) / 2)),
                  take_quantile(means, corrected((1 + kConfidence) / 2))};
}

bool has_interval(const std::vector<double>& values) {
  const bool finite = std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  return finite && std::ranges::adjacent_find(values, std::ranges::not_equal_to{}) != values.end();
}

// The means of all resamples: means[sample][resample].
std::vector<std::vector<double>> resampled_means(std::span<const std::vector<double>> samples) {
  const auto count = static_cast<std::uint32_t>(samples.front().size());
  std::vector<double> values(count * kBlock, 0.0);  // [value][sample]
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (std::size_t i = 0; i < count; ++i) values[i * kBlock + s] = samples[s][i];
  std::vector<std::vector<double>> means(samples.size(), std::vector<double>(kBootstrapResamples));
  for (std::uint32_t resample = 0; resample < kBootstrapResamples; ++resample) {
    BlockRow sums{};
    const RandomStream random{kSeed, kStream, resample};
    for (std::uint32_t place = 0; place < count; place += 4) {
      const PhiloxBlock block = random.block(place / 4);
      for (std::uint32_t word = 0; word < std::min(4U, count - place); ++word) {
        const double* drawn = values.data() + uniform_below(block.word[word], count) * kBlock;
        for (std::size_t s = 0; s < kBlock; ++s) sums[s] += drawn[s];
      }
    }
    for (std::size_t s = 0; s < samples.size(); ++s) means[s][resample] = sums[s] / count;
  }
  return means;
}

}  // namespace

std::uint32_t bootstrap_draw(std::uint32_t resample, std::uint32_t place, std::uint32_t count) {
  return uniform_below(RandomStream{kSeed, kStream, resample}.bits(place), count);
}

std::vector<std::optional<Interval>> bootstrap_intervals(std::span<const std::vector<double>> samples,
                                                         ThreadPool& pool) {
  std::vector<std::optional<Interval>> intervals(samples.size());
  const std::size_t blocks = (samples.size() + kBlock - 1) / kBlock;
  pool.for_each(static_cast<std::int64_t>(blocks), [&](std::int64_t index, int) {
    const std::size_t begin = static_cast<std::size_t>(index) * kBlock;
    const auto block = samples.subspan(begin, std::min(kBlock, samples.size() - begin));
    for (const auto& sample : block)
      JARI_ASSERT(sample.size() == samples.front().size() && sample.size() >= kFewestForBootstrap,
                  "bootstrap_intervals() takes samples of one size, at least 8");
    std::vector<std::vector<double>> means = resampled_means(block);
    for (std::size_t s = 0; s < block.size(); ++s)
      if (has_interval(block[s])) intervals[begin + s] = interval_of(block[s], means[s]);
  });
  return intervals;
}

}  // namespace jari
