#pragma once
// Scores with rows that lie all over a table, and sums of such rows. Vectors of a row begin at whole vectors, but the
// last one ends where the row ends: so no number is handled alone, and those in both are computed twice, alike. The
// order of every sum depends on the width alone.

#include <algorithm>
#include <cstdint>

#include "framework/backend/cpu/small_product.hpp"

namespace jari::cpu {

namespace row_detail {

// Where the vectors of a row of `width` begin.
template <class T>
std::int64_t begin_of_vector(std::int64_t vector, std::int64_t width) {
  return std::min(vector * kVectorLanes<T>, width - kVectorLanes<T>);
}

// Columns [first, first + kVectors) in vectors of `out` = the sum of the rows that each_row gives.
template <int kVectors, class T, class EachRow>
void sum_vectors(std::int64_t first, std::int64_t width, const EachRow& each_row, T* out) {
  std::int64_t at[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) at[v] = begin_of_vector<T>(first + v, width);
  Vector<T> sums[kVectors] = {};
  each_row([&](T factor, const T* row) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[v] += factor * load(row + at[v]);
  });
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) store(out + at[v], sums[v]);
}

// `count` vectors, at most kMost.
template <int kMost, class T, class EachRow>
void sum_some_vectors(std::int64_t count, std::int64_t first, std::int64_t width, const EachRow& each_row, T* out) {
  if (count == kMost) return sum_vectors<kMost>(first, width, each_row, out);
  if constexpr (kMost > 1) sum_some_vectors<kMost - 1>(count, first, width, each_row, out);
}

}  // namespace row_detail

// out [width] = the sum of factor times row: each_row(add) calls add(factor, row) for every row, in the same order each
// time that it is called.
template <class T, class EachRow>
void sum_rows(std::int64_t width, const EachRow& each_row, T* out) {
  constexpr std::int64_t kMost = 8;
  if (width < kVectorLanes<T>) {
    std::fill_n(out, width, T{0});
    each_row([&](T factor, const T* row) {
      for (std::int64_t j = 0; j < width; ++j) out[j] += factor * row[j];
    });
    return;
  }
  const std::int64_t vectors = (width + kVectorLanes<T> - 1) / kVectorLanes<T>;
  for (std::int64_t first = 0; first < vectors; first += kMost)
    row_detail::sum_some_vectors<kMost>(std::min(kMost, vectors - first), first, width, each_row, out);
}

// The squares of each of `count` rows that follow each other, four at a time.
template <class T>
void squares_of_rows(const T* rows, std::int64_t count, std::int64_t width, double* squares) {
  constexpr std::int64_t kLanes = kVectorLanes<T>;
  const std::int64_t whole = width / kLanes * kLanes;
  for (std::int64_t first = 0; first < count; first += 4, rows += 4 * width) {
    const std::int64_t here = std::min<std::int64_t>(4, count - first);
    Vector<T> sums[4] = {};
    T four[4];
    for (std::int64_t j = 0; j < whole; j += kLanes) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const Vector<T> numbers = load(rows + std::min<std::int64_t>(i, here - 1) * width + j);
        sums[i] += numbers * numbers;
      }
    }
    product_detail::sum_lanes(sums, four);
    for (std::int64_t i = 0; i < here; ++i) {
      for (std::int64_t j = whole; j < width; ++j) four[i] += rows[i * width + j] * rows[i * width + j];
      squares[first + i] = static_cast<double>(four[i]);
    }
  }
}

// The scores of one row with others.
template <class T>
class RowScores {
 public:
  RowScores(const T* own, std::int64_t width) : own_(own), width_(width), whole_(width / kLanes * kLanes) {
    if (width < kLanes || whole_ == width) return;
    T rest[kLanes];  // of the last vector, what no whole one has
    std::copy_n(own + width - kLanes, kLanes, rest);
    std::fill_n(rest, kLanes - (width - whole_), T{0});
    rest_ = load(rest);
  }

  // scores[i] = own . rows[i], four at a time.
  void operator()(const T* const (&rows)[4], T* scores) const {
    if (width_ < kLanes) {
      for (int i = 0; i < 4; ++i) {
        scores[i] = T{0};
        for (std::int64_t j = 0; j < width_; ++j) scores[i] += own_[j] * rows[i][j];
      }
      return;
    }
    Vector<T> sums[4] = {};
    for (std::int64_t j = 0; j < whole_; j += kLanes) {
      const Vector<T> own = load(own_ + j);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sums[i] += own * load(rows[i] + j);
    }
    if (whole_ < width_) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sums[i] += rest_ * load(rows[i] + width_ - kLanes);
    }
    product_detail::sum_lanes(sums, scores);
  }

 private:
  static constexpr std::int64_t kLanes = kVectorLanes<T>;
  const T* own_;
  std::int64_t width_, whole_;
  Vector<T> rest_ = {};
};

}  // namespace jari::cpu
