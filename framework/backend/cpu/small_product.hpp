#pragma once
// Products of matrices that stay in a core's cache, on tiles whose sums stay in its registers. Each element's sum runs
// in an order that its sizes fix, so bits do not depend on how the caller cuts rows.

#include <algorithm>
#include <cstdint>

#include "framework/backend/cpu/vector_math.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace jari::cpu {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T>
struct VectorOf {
  using type __attribute__((vector_size(kVectorBytes))) = T;
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
inline constexpr int kVectorLanes = kVectorBytes / sizeof(T);

template <class T>
Vector<T> load(const T* from) {
  Vector<T> vector;
  __builtin_memcpy(&vector, from, sizeof(vector));
  return vector;
}

template <class T>
void store(T* to, Vector<T> vector) {
  __builtin_memcpy(to, &vector, sizeof(vector));
}

// The same value, in a register: otherwise the compiler may keep it in memory and load it for each use.
template <class V>
V in_register(V vector) {
#if defined(__AVX__)
  asm("" : "+x"(vector));
#endif
  return vector;
}

// A left operand: element (i, p) at data[i * row + p * column], so a transposed matrix is one with the two swapped.
template <class T>
struct Strided {
  const T* data;
  std::int64_t row, column;
};

namespace product_detail {

// `kRows` rows by `kVectors` vectors of columns.
template <int kRows, int kVectors, class T>
void row_tile(Strided<T> a, const T* b, std::int64_t b_row, T* c, std::int64_t c_row, std::int64_t k, T factor,
              bool accumulate) {
  constexpr int lanes = kVectorLanes<T>;
  Vector<T> sums[kRows][kVectors] = {};
  for (std::int64_t p = 0; p < k; ++p) {
    Vector<T> right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = load(b + p * b_row + v * lanes);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const T left = a.data[i * a.row + p * a.column];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] += left * right[v];
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      T* to = c + i * c_row + v * lanes;
      const Vector<T> product = sums[i][v] * factor;
      store(to, accumulate ? load(to) + product : product);
    }
  }
}

template <int kRows, class T>
void rows(Strided<T> a, const T* b, std::int64_t b_row, T* c, std::int64_t c_row, std::int64_t n, std::int64_t k,
          T factor, bool accumulate) {
  constexpr int lanes = kVectorLanes<T>;
  std::int64_t j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    row_tile<kRows, 2>(a, b + j, b_row, c + j, c_row, k, factor, accumulate);
  }
  if (j + lanes <= n) {
    row_tile<kRows, 1>(a, b + j, b_row, c + j, c_row, k, factor, accumulate);
    j += lanes;
  }
  for (; j < n; ++j) {
    T sums[kRows] = {};
    for (std::int64_t p = 0; p < k; ++p) {
      for (int i = 0; i < kRows; ++i) sums[i] += a.data[i * a.row + p * a.column] * b[p * b_row + j];
    }
    for (int i = 0; i < kRows; ++i) c[i * c_row + j] = (accumulate ? c[i * c_row + j] : T{0}) + sums[i] * factor;
  }
}

// `count` rows, at most kMost.
template <int kMost, class T, class... Rest>
void some_rows(std::int64_t count, Strided<T> a, Rest... rest) {
  if (count == kMost) return rows<kMost>(a, rest...);
  if constexpr (kMost > 1) some_rows<kMost - 1>(count, a, rest...);
}

}  // namespace product_detail

// c = factor a b, or c += it: [m, k] x [k, n] -> [m, n].
template <class T>
void multiply(Strided<T> a, const T* b, std::int64_t b_row, T* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
              std::int64_t k, T factor = 1, bool accumulate = false) {
  // Rows a tile: with two vectors of columns, 12 sums in AVX2's 16 registers or 24 in AVX-512's 32.
  constexpr std::int64_t kMost = kVectorBytes == 64 ? 12 : 6;
  // The part of b that all rows go over at a time stays in the first-level cache.
  constexpr std::int64_t kPair = 2 * kVectorLanes<T>, kDepth = 256, kPanelElements = 32768 / sizeof(T);
  const std::int64_t tiles = (m + kMost - 1) / kMost;
  for (std::int64_t p = 0; p < std::max<std::int64_t>(1, k); p += kDepth) {
    const std::int64_t depth = std::min(kDepth, k - p);
    const std::int64_t panel = std::max(kPair, kPanelElements / std::max<std::int64_t>(1, depth) / kPair * kPair);
    for (std::int64_t j = 0; j < n; j += panel) {
      for (std::int64_t tile = 0, i = 0; tile < tiles; ++tile) {
        const std::int64_t count = m / tiles + (tile < m % tiles ? 1 : 0);
        const Strided<T> left = {a.data + i * a.row + p * a.column, a.row, a.column};
        product_detail::some_rows<kMost>(count, left, b + p * b_row + j, b_row, c + i * c_row + j, c_row,
                                         std::min(panel, n - j), depth, factor, accumulate || p > 0);
        i += count;
      }
    }
  }
}

namespace product_detail {

// The sums of the lanes of four vectors.
template <class T>
void sum_lanes(const Vector<T> (&vectors)[4], T* sums) {
  for (int i = 0; i < 4; ++i) {
    T lanes[kVectorLanes<T>];
    store(lanes, vectors[i]);
    for (int width = kVectorLanes<T> / 2; width > 0; width /= 2) {
      for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    sums[i] = lanes[0];
  }
}

#if defined(__AVX__)
inline void sum_lanes_of_eight(__m256 a, __m256 b, __m256 c, __m256 d, float* sums) {
  const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
  _mm_storeu_ps(sums, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));
}

inline void sum_lanes(const Vector<float> (&vectors)[4], float* sums) {
  __m256 halves[4];
  for (int i = 0; i < 4; ++i) {
#if defined(__AVX512F__)
    const __m512 all = vectors[i];
    halves[i] =
        _mm256_add_ps(_mm512_castps512_ps256(all), _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(all), 1)));
#else
    halves[i] = vectors[i];
#endif
  }
  sum_lanes_of_eight(halves[0], halves[1], halves[2], halves[3], sums);
}
#endif

// The columns that fill no vector: apart, to keep them out of the way of the others.
template <class T>
[[gnu::noinline]] void add_last_columns(const T* a, std::int64_t a_row, const T* b, std::int64_t b_row, T* c,
                                        std::int64_t c_row, int rows, int columns, std::int64_t begin,
                                        std::int64_t end) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      for (std::int64_t p = begin; p < end; ++p) c[i * c_row + j] += a[i * a_row + p] * b[j * b_row + p];
    }
  }
}

// `kRows` rows of a by `kColumns` rows of b, at most four.
template <int kRows, int kColumns, class T>
void dot_tile(const T* a, std::int64_t a_row, const T* b, std::int64_t b_row, T* c, std::int64_t c_row,
              std::int64_t k) {
  constexpr int lanes = kVectorLanes<T>;
  Vector<T> sums[kRows][4] = {};
  std::int64_t p = 0;
  for (; p + lanes <= k; p += lanes) {
    Vector<T> left[kRows];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) left[i] = in_register(load(a + i * a_row + p));
#pragma GCC unroll 4
    for (int j = 0; j < kColumns; ++j) {
      const Vector<T> right = in_register(load(b + j * b_row + p));
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) sums[i][j] += left[i] * right;
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    T dots[4];
    sum_lanes(sums[i], dots);
    std::copy_n(dots, kColumns, c + i * c_row);
  }
  if (p < k) add_last_columns(a, a_row, b, b_row, c, c_row, kRows, kColumns, p, k);
}

template <int kColumns, class T>
void dot_columns(const T* a, std::int64_t a_row, const T* b, std::int64_t b_row, T* c, std::int64_t c_row,
                 std::int64_t m, std::int64_t k) {
  std::int64_t i = 0;
  for (; i + 3 <= m; i += 3) dot_tile<3, kColumns>(a + i * a_row, a_row, b, b_row, c + i * c_row, c_row, k);
  if (m - i == 2) dot_tile<2, kColumns>(a + i * a_row, a_row, b, b_row, c + i * c_row, c_row, k);
  if (m - i == 1) dot_tile<1, kColumns>(a + i * a_row, a_row, b, b_row, c + i * c_row, c_row, k);
}

}  // namespace product_detail

// c = a b^T: [m, k] x [n, k] -> [m, n], both operands contiguous along k.
template <class T>
void multiply_transposed(const T* a, std::int64_t a_row, const T* b, std::int64_t b_row, T* c, std::int64_t c_row,
                         std::int64_t m, std::int64_t n, std::int64_t k) {
  for (std::int64_t j = 0; j < n; j += 4) {
    const T* right = b + j * b_row;
    switch (n - j) {
      case 1:
        product_detail::dot_columns<1>(a, a_row, right, b_row, c + j, c_row, m, k);
        break;
      case 2:
        product_detail::dot_columns<2>(a, a_row, right, b_row, c + j, c_row, m, k);
        break;
      case 3:
        product_detail::dot_columns<3>(a, a_row, right, b_row, c + j, c_row, m, k);
        break;
      default:
        product_detail::dot_columns<4>(a, a_row, right, b_row, c + j, c_row, m, k);
        break;
    }
  }
}

}  // namespace jari::cpu
