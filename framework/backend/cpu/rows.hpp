#pragma once
// Reductions and softmax of one row. They go through the lanes of a vector in a fixed order, so that a row's result
// depends on its elements alone.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "framework/backend/cpu/small_product.hpp"
#include "framework/backend/cpu/vector_math.hpp"
#include "framework/ops/softmax.hpp"

namespace jari::cpu {

template <class T>
inline constexpr int kLanes = kVectorBytes / sizeof(T);

// Halves joined again and again: of eight lanes the first with the fifth, the second with the sixth ...
template <class T, class Join>
T join_lanes(T (&lanes)[kLanes<T>], const Join& join) {
  for (int width = kLanes<T> / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] = join(lanes[lane], lanes[lane + width]);
  }
  return lanes[0];
}

#if defined(__AVX512F__)
// The same, in registers.
template <class Join>
float join_lanes(float (&lanes)[16], const Join& join) {
  using Eight __attribute__((vector_size(32))) = float;
  using Four __attribute__((vector_size(16))) = float;
  Eight low, high;
  __builtin_memcpy(&low, lanes, sizeof low);
  __builtin_memcpy(&high, lanes + 8, sizeof high);
  const Eight eight = join(low, high);
  const Four four =
      join(__builtin_shufflevector(eight, eight, 0, 1, 2, 3), __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
  const Four two = join(four, __builtin_shufflevector(four, four, 2, 3, 2, 3));
  return join(two, __builtin_shufflevector(two, two, 1, 1, 1, 1))[0];
}
#endif

template <class T>
T sum_of_lanes(T (&lanes)[kLanes<T>]) {
  return join_lanes(lanes, [](auto a, auto b) { return a + b; });
}

// The sum of term(i), i in [0, count). What is left after whole vectors is taken from the last whole vector of the row,
// since a vector of terms costs no more than one of them.
template <class T, class Term>
T sum_of(std::int64_t count, const Term& term) {
  T lanes[kLanes<T>] = {};
  std::int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    for (int lane = 0; lane < kLanes<T>; ++lane) lanes[lane] += term(i + lane);
  }
  if (i > 0 && i < count) {
    const std::int64_t last = count - kLanes<T>;
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      const T value = term(last + lane);
      lanes[lane] += last + lane >= i ? value : T{0};
    }
  } else {
    for (int lane = 0; i < count; ++i, ++lane) lanes[lane] += term(i);
  }
  return sum_of_lanes(lanes);
}

// Two such sums at once, where each alone would wait for its own last addition.
template <class T, class First, class Second>
std::pair<T, T> sums_of(std::int64_t count, const First& first, const Second& second) {
  T firsts[kLanes<T>] = {}, seconds[kLanes<T>] = {};
  std::int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      firsts[lane] += first(i + lane);
      seconds[lane] += second(i + lane);
    }
  }
  for (int lane = 0; i < count; ++i, ++lane) {
    firsts[lane] += first(i);
    seconds[lane] += second(i);
  }
  return {sum_of_lanes(firsts), sum_of_lanes(seconds)};
}

template <class T>
double squares_of(const T* row, std::int64_t count) {
  return static_cast<double>(sum_of<T>(count, [row](std::int64_t i) { return row[i] * row[i]; }));
}

// The largest element, at least `lowest`. It may pass over a NaN, which then shows in a softmax's sum.
template <class T>
T largest_of(const T* row, std::int64_t count, T lowest = static_cast<T>(kLowestMaximum)) {
  const auto larger = [](auto a, auto b) { return a > b ? a : b; };
  constexpr std::int64_t kStep = kLanes<T>, kVectors = 4;  // at a time: each comparison waits for the one before it
  Vector<T> largest[kVectors];
  for (Vector<T>& vector : largest) vector = Vector<T>{} + lowest;
  std::int64_t i = 0;
  for (; i + kVectors * kStep <= count; i += kVectors * kStep) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) largest[v] = larger(load(row + i + v * kStep), largest[v]);
  }
  for (; i + kStep <= count; i += kStep) largest[0] = larger(load(row + i), largest[0]);
  const Vector<T> all = larger(larger(largest[0], largest[1]), larger(largest[2], largest[3]));
  T lanes[kLanes<T>];
  store(lanes, in_register(all));
  for (int lane = 0; i < count; ++i, ++lane) lanes[lane] = larger(row[i], lanes[lane]);
  return join_lanes(lanes, larger);
}

// e^x of each lane, none of which is more than kHighestExponent.
inline Vector<float> exponentials_of(Vector<float> x) {
  Vector<float> result = exponential_in_range<Vector<float>, Vector<std::uint32_t>>(x);
  result = x < kLowestExponent ? 0.0f : result;
  return x == x ? result : x;
}

inline Vector<double> exponentials_of(Vector<double> x) {
  for (int lane = 0; lane < kLanes<double>; ++lane) x[lane] = exponential(x[lane]);
  return x;
}

// Writes e^(x - largest) and returns its sum, at least kLowestSum. `out` may be `row`.
template <class T>
T exponentials(const T* row, std::int64_t count, T largest, T* out) {
  const std::int64_t last_at = count - kLanes<T>, whole = count / kLanes<T> * kLanes<T>;
  Vector<T> sum = {}, last = {};
  if (last_at >= 0) last = load(row + last_at);  // before it is overwritten
  for (std::int64_t i = 0; i < whole; i += kLanes<T>) {
    const Vector<T> powers = exponentials_of(load(row + i) - largest);
    sum += powers;
    store(out + i, powers);
  }
  T lanes[kLanes<T>];
  store(lanes, in_register(sum));
  if (whole < count && last_at >= 0) {  // as in sum_of
    const Vector<T> powers = exponentials_of(last - largest);
    for (int lane = 0; lane < kLanes<T>; ++lane) lanes[lane] += last_at + lane >= whole ? powers[lane] : T{0};
    store(out + last_at, powers);
  } else {
    for (std::int64_t i = whole; i < count; ++i) lanes[i - whole] += out[i] = exponential(row[i] - largest);
  }
  return std::max(sum_of_lanes(lanes), static_cast<T>(kLowestSum));
}

template <class T>
void scale_row(T* row, std::int64_t count, T factor) {
  for (std::int64_t i = 0; i < count; ++i) row[i] *= factor;
}

}  // namespace jari::cpu
