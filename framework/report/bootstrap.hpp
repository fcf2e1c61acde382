#pragma once
// Bootstrap intervals of means: for skewed values, where Student's interval is too sure on one side.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/base/thread_pool.hpp"
#include "framework/report/statistics.hpp"

namespace jari {

// Fewer values can not stand for their distribution: of seven, the interval of a normal sample is already a tenth too
// narrow.
inline constexpr std::size_t kFewestForBootstrap = 8;
inline constexpr std::uint32_t kBootstrapResamples = 9999;

// Which of `count` values resample `resample` draws at place `place`. Philox with a fixed key: the same values give the
// same interval, on every machine.
std::uint32_t bootstrap_draw(std::uint32_t resample, std::uint32_t place, std::uint32_t count);

// 95 % intervals of the means of samples that all have one size of at least kFewestForBootstrap: bias-corrected and
// accelerated (BCa), Efron (1987), equations as in Efron and Tibshirani (1993), chapter 14. Resamples whose mean equals
// the sample's count half; quantiles interpolate linearly. Nothing for a sample with a value that is not finite, or
// whose values are all equal.
std::vector<std::optional<Interval>> bootstrap_intervals(std::span<const std::vector<double>> samples,
                                                         ThreadPool& pool);

}  // namespace jari
