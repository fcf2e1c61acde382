#pragma once
// Reductions and softmax of one row. They go through the lanes of a vector in a fixed order, so that a row's result
// depends on its elements alone.

#include <algorithm>
#include <cstdint>

#include "framework/backend/cpu/vector_math.hpp"
#include "framework/ops/softmax.hpp"

namespace jari::cpu {

template <class T>
inline constexpr int kLanes = 64 / sizeof(T);  // as many as the widest vectors have

template <class T>
T sum_of_lanes(T (&lanes)[kLanes<T>]) {
  for (int width = kLanes<T> / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

// The sum of term(i), i in [0, count).
template <class T, class Term>
T sum_of(std::int64_t count, const Term& term) {
  T lanes[kLanes<T>] = {};
  std::int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    for (int lane = 0; lane < kLanes<T>; ++lane) lanes[lane] += term(i + lane);
  }
  for (int lane = 0; i < count; ++i, ++lane) lanes[lane] += term(i);
  return sum_of_lanes(lanes);
}

// The largest element, at least `lowest`. It may pass over a NaN, which then shows in a softmax's sum.
template <class T>
T largest_of(const T* row, std::int64_t count, T lowest = static_cast<T>(kLowestMaximum)) {
  T lanes[kLanes<T>];
  std::fill_n(lanes, kLanes<T>, lowest);
  std::int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    for (int lane = 0; lane < kLanes<T>; ++lane)
      lanes[lane] = row[i + lane] > lanes[lane] ? row[i + lane] : lanes[lane];
  }
  for (int lane = 0; i < count; ++i, ++lane) lanes[lane] = row[i] > lanes[lane] ? row[i] : lanes[lane];
  return *std::max_element(lanes, lanes + kLanes<T>);
}

// Writes e^(x - largest) and returns its sum, at least kLowestSum. `out` may be `row`.
template <class T>
T exponentials(const T* row, std::int64_t count, T largest, T* out) {
  T lanes[kLanes<T>] = {}, powers[kLanes<T>];
  std::int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      powers[lane] = exponential(row[i + lane] - largest);
      lanes[lane] += powers[lane];
    }
    std::copy_n(powers, kLanes<T>, out + i);
  }
  if (i < count) {  // a whole vector of exponentials is cheaper than a few one by one
    const std::int64_t rest = count - i;
    T last[kLanes<T>] = {};
    std::copy_n(row + i, rest, last);
    for (int lane = 0; lane < kLanes<T>; ++lane) powers[lane] = exponential(last[lane] - largest);
    for (int lane = 0; lane < rest; ++lane) lanes[lane] += powers[lane];
    std::copy_n(powers, rest, out + i);
  }
  return std::max(sum_of_lanes(lanes), static_cast<T>(kLowestSum));
}

template <class T>
void scale_row(T* row, std::int64_t count, T factor) {
  for (std::int64_t i = 0; i < count; ++i) row[i] *= factor;
}

}  // namespace jari::cpu
