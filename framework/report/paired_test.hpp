#pragma once
// Whether one arm of a sweep differs from another that was trained with the same seeds.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace jari {

inline constexpr double kSignificance = 0.05;  // chance of a single false "differs" among the comparisons of a metric

struct SignFlipTest {
  double p = 1;
  bool exact = true;  // false: from random flips; p is then never below 1 / (resamples + 1)
};

inline constexpr std::size_t kMostExactPairs = 40;
inline constexpr std::int64_t kLeastSignFlips = 19999;

// Two-sided randomization test of paired differences (Fisher 1935, section 21; Pitman 1937): if the arms do not differ,
// each difference is as likely with the other sign. p is the share of the 2^n ways to sign them whose mean lies as far
// from 0 as the observed one or further; means that differ by less than 1e-12 of the mean absolute difference count as
// equally far. All ways are counted up to kMostExactPairs, by meeting in the middle; above, `resamples` random ones
// (Philox with a fixed key), and p = (as far + 1) / (resamples + 1). Of successes and failures (0 and 1) this is
// McNemar's exact test. `differences` must be finite and not empty.
SignFlipTest sign_flip_test(std::span<const double> differences, std::int64_t resamples = kLeastSignFlips);

// Holm (1979): p values so enlarged that rejecting those of at most 5 % makes a single false rejection among them all
// at most 5 % likely. In the order given.
std::vector<double> holm(std::span<const double> p_values);

// The fewest pairs with which the exact test can come out at kSignificance at all if it is one of `comparisons`: its
// smallest p is 2^(1-n), and Holm asks kSignificance / comparisons of the smallest.
std::int64_t fewest_pairs(std::int64_t comparisons);

inline constexpr std::int64_t kMostPairsNeeded = 10000;

// The pairs with which a paired two-sided t test at level `significance` finds a difference of `effect` standard
// deviations (of the differences) with a chance of 80 %: noncentral t, Cohen (1988), section 2.3.5. Nothing if that is
// more than kMostPairsNeeded.
std::optional<std::int64_t> pairs_for_power(double effect, double significance);

}  // namespace jari
