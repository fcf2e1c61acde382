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
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const T left = a.data[i * a.row + p * a.column];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] += left * right[v];
    }
  }
#pragma GCC unroll 8
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

}  // namespace product_detail

// c = factor a b, or c += it: [m, k] x [k, n] -> [m, n].
template <class T>
void multiply(Strided<T> a, const T* b, std::int64_t b_row, T* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
              std::int64_t k, T factor = 1, bool accumulate = false) {
  constexpr std::int64_t kMost = 6;  // rows a tile: with two vectors of columns, 12 sums in registers
  const std::int64_t tiles = (m + kMost - 1) / kMost;
  for (std::int64_t tile = 0, i = 0; tile < tiles; ++tile) {
    const std::int64_t count = m / tiles + (tile < m % tiles ? 1 : 0);
    const Strided<T> left = {a.data + i * a.row, a.row, a.column};
    T* to = c + i * c_row;
    switch (count) {
      case 1:
        product_detail::rows<1>(left, b, b_row, to, c_row, n, k, factor, accumulate);
        break;
      case 2:
        product_detail::rows<2>(left, b, b_row, to, c_row, n, k, factor, accumulate);
        break;
      case 3:
        product_detail::rows<3>(left, b, b_row, to, c_row, n, k, factor, accumulate);
        break;
      case 4:
        product_detail::rows<4>(left, b, b_row, to, c_row, n, k, factor, accumulate);
        break;
      case 5:
        product_detail::rows<5>(left, b, b_row, to, c_row, n, k, factor, accumulate);
        break;
      default:
        product_detail::rows<6>(left, b, b_row, to, c_row, n, k, factor, accumulate);
        break;
    }
    i += count;
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

// A value that must stay in a register: otherwise the compiler loads it again for each use.
template <class V>
void keep_in_register([[maybe_unused]] V& vector) {
#if defined(__AVX__)
  asm("" : "+x"(vector));
#endif
}

// The columns that fill no vector: apart, to keep them out of the way of the others.
template <int kRows, class T>
[[gnu::noinline]] void add_last_columns(const T* a, std::int64_t a_row, const T* const (&b)[4], std::int64_t begin, std::int64_t end,
                      T (&dots)[kRows][4]) {
  for (std::int64_t p = begin; p < end; ++p) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < 4; ++j) dots[i][j] += a[i * a_row + p] * b[j][p];
    }
  }
}

// `kRows` rows of a by four rows of b (`count` of them real: the others repeat the last).
template <int kRows, class T>
void dot_tile(const T* a, std::int64_t a_row, const T* b, std::int64_t b_row, int count, T* c, std::int64_t c_row,
              std::int64_t k) {
  constexpr int lanes = kVectorLanes<T>;
  const T* right[4];
  for (int j = 0; j < 4; ++j) right[j] = b + std::min(j, count - 1) * b_row;
  Vector<T> sums[kRows][4] = {};
  std::int64_t p = 0;
  for (; p + lanes <= k; p += lanes) {
    Vector<T> left[kRows];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      left[i] = load(a + i * a_row + p);
      keep_in_register(left[i]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      Vector<T> column = load(right[j] + p);
      keep_in_register(column);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) sums[i][j] += left[i] * column;
    }
  }
  T dots[kRows][4];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) sum_lanes(sums[i], dots[i]);
  if (p < k) add_last_columns(a, a_row, right, p, k, dots);
  for (int i = 0; i < kRows; ++i) {
    if (count == 4) {
      std::copy_n(dots[i], 4, c + i * c_row);
    } else {
      std::copy_n(dots[i], count, c + i * c_row);
    }
  }
}

}  // namespace product_detail

// c = a b^T: [m, k] x [n, k] -> [m, n], both operands contiguous along k.
template <class T>
void multiply_transposed(const T* a, std::int64_t a_row, const T* b, std::int64_t b_row, T* c, std::int64_t c_row,
                         std::int64_t m, std::int64_t n, std::int64_t k) {
  for (std::int64_t j = 0; j < n; j += 4) {
    const int count = static_cast<int>(std::min<std::int64_t>(4, n - j));
    const T* right = b + j * b_row;
    std::int64_t i = 0;
    for (; i + 3 <= m; i += 3) {
      product_detail::dot_tile<3>(a + i * a_row, a_row, right, b_row, count, c + i * c_row + j, c_row, k);
    }
    if (m - i == 2) {
      product_detail::dot_tile<2>(a + i * a_row, a_row, right, b_row, count, c + i * c_row + j, c_row, k);
    } else if (m - i == 1) {
      product_detail::dot_tile<1>(a + i * a_row, a_row, right, b_row, count, c + i * c_row + j, c_row, k);
    }
  }
}

}  // namespace jari::cpu
