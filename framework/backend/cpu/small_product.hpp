#pragma once
// Products of matrices that stay in a core's cache, on tiles whose sums stay in its registers. Each element's sum runs
// in an order that its sizes fix, so bits do not depend on how the caller cuts rows.

#include <algorithm>
#include <cstdint>

#include "framework/backend/cpu/exchange.hpp"
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

// A right operand whose columns are packed in panels of two vectors, [panel][depth][columns], zeros behind the last:
// its part that a tile of rows goes over lies together.
template <class T>
struct Panels {
  static constexpr std::int64_t kColumns = 2 * kVectorLanes<T>;
  const T* data;
  std::int64_t depth;

  static std::int64_t size(std::int64_t k, std::int64_t n) { return k * ((n + kColumns - 1) / kColumns * kColumns); }
};

// `columns` of the rows, at most a panel's.
template <class T>
void pack_rows(const T* rows, std::int64_t row, std::int64_t count, std::int64_t columns, T* packed) {
  constexpr std::int64_t kColumns = Panels<T>::kColumns;
  if (columns < kColumns) {
    for (std::int64_t p = 0; p < count; ++p) std::copy_n(rows + p * row, columns, packed + p * kColumns);
    return;
  }
  for (std::int64_t p = 0; p < count; ++p) {
    store(packed + p * kColumns, load(rows + p * row));
    store(packed + p * kColumns + kVectorLanes<T>, load(rows + p * row + kVectorLanes<T>));
  }
}

// The same of a transposed operand: number p of column j at columns[j * column + p * row].
template <class T>
void pack_columns(const T* columns, std::int64_t column, std::int64_t row, std::int64_t k, std::int64_t count,
                  T* packed) {
  constexpr std::int64_t kColumns = Panels<T>::kColumns;
  std::int64_t whole = 0;  // columns that are done
  if constexpr (sizeof(T) == 4) {
    for (; row == 1 && whole + 16 <= count; whole += 16) {
      const T* const from = columns + whole * column;
      std::int64_t p = 0;
      for (; p + 16 <= k; p += 16) exchange_16(from + p, column, packed + p * kColumns + whole, kColumns);
      for (; p < k; ++p) {
        for (int j = 0; j < 16; ++j) packed[p * kColumns + whole + j] = from[j * column + p];
      }
    }
  }
  for (std::int64_t j = whole; j < count; ++j) {
    for (std::int64_t p = 0; p < k; ++p) packed[p * kColumns + j] = columns[j * column + p * row];
  }
}

// b: [k, n] with any strides.
template <class T>
void pack_panels(Strided<T> b, std::int64_t k, std::int64_t n, T* packed) {
  constexpr std::int64_t kColumns = Panels<T>::kColumns;
  for (std::int64_t first = 0; first < n; first += kColumns, packed += k * kColumns) {
    const std::int64_t columns = std::min(kColumns, n - first);
    if (columns < kColumns) std::fill_n(packed, k * kColumns, T{0});
    if (b.column == 1) {
      pack_rows(b.data + first, b.row, k, columns, packed);
      continue;
    }
    pack_columns(b.data + first * b.column, b.column, b.row, k, columns, packed);
  }
}

namespace product_detail {

template <class P>
P opaque(P pointer) {
  asm("" : "+r"(pointer));
  return pointer;
}

// A function of its own, so that its loop has all registers.
template <int kRows, class T>
[[gnu::noipa]] void panel_tile(const T* a, std::int64_t a_row, std::int64_t a_column, const T* panel, T* c,
                               std::int64_t c_row, std::int64_t k, bool accumulate) {
  constexpr int kVectors = 2, lanes = kVectorLanes<T>, kGroups = (kRows + 2) / 3;
  // Rows in threes, each with a pointer that the compiler may not take apart: twelve offsets would fill all registers.
  const T* groups[kGroups];
#pragma GCC unroll 4
  for (int i = 0; i < kGroups; ++i) groups[i] = opaque(a + 3 * i * a_row);
  Vector<T> sums[kRows][kVectors] = {};
  for (std::int64_t p = 0; p < k; ++p, panel += kVectors * lanes) {
    const Vector<T> right[kVectors] = {load(panel), load(panel + lanes)};
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const T left = groups[i / 3][i % 3 * a_row];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] += left * right[v];
    }
#pragma GCC unroll 4
    for (int i = 0; i < kGroups; ++i) groups[i] += a_column;
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      T* const to = c + i * c_row + v * lanes;
      store(to, accumulate ? load(to) + sums[i][v] : sums[i][v]);
    }
  }
}

// A tile of which only the first columns are there.
template <int kRows, class T>
[[gnu::noinline]] void panel_part(Strided<T> a, const T* panel, T* c, std::int64_t c_row, std::int64_t columns,
                                  std::int64_t k, bool accumulate) {
  constexpr std::int64_t kColumns = Panels<T>::kColumns;
  T part[kRows * kColumns];
  panel_tile<kRows>(a.data, a.row, a.column, panel, part, kColumns, k, false);
  for (int i = 0; i < kRows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      c[i * c_row + j] = (accumulate ? c[i * c_row + j] : T{0}) + part[i * kColumns + j];
  }
}

// `count` rows, at most kMost.
template <int kMost, class T>
void panel_rows(std::int64_t count, Strided<T> a, const T* panel, T* c, std::int64_t c_row, std::int64_t columns,
                std::int64_t k, bool accumulate) {
  if (count < kMost) {
    if constexpr (kMost > 1) panel_rows<kMost - 1>(count, a, panel, c, c_row, columns, k, accumulate);
  } else if (columns < Panels<T>::kColumns) {
    panel_part<kMost>(a, panel, c, c_row, columns, k, accumulate);
  } else {
    panel_tile<kMost>(a.data, a.row, a.column, panel, c, c_row, k, accumulate);
  }
}

}  // namespace product_detail

// c = a b, or c += it: [m, k] x the first k rows and n columns of b -> [m, n].
template <class T>
void multiply_panels(Strided<T> a, Panels<T> b, T* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                     std::int64_t k, bool accumulate) {
  constexpr std::int64_t kMost = kVectorBytes == 64 ? 12 : 6, kColumns = Panels<T>::kColumns;
  constexpr std::int64_t kDepth = 16384 / kColumns / static_cast<std::int64_t>(sizeof(T)) * 2;  // of a panel in cache
  const std::int64_t tiles = (m + kMost - 1) / kMost;
  for (std::int64_t p = 0; p < std::max<std::int64_t>(1, k); p += kDepth) {
    const std::int64_t depth = std::min(kDepth, k - p);
    for (std::int64_t j = 0; j < n; j += kColumns) {
      const T* const panel = b.data + j * b.depth + p * kColumns;
      for (std::int64_t tile = 0, i = 0; tile < tiles; ++tile) {
        const std::int64_t count = m / tiles + (tile < m % tiles ? 1 : 0);
        const Strided<T> left = {a.data + i * a.row + p * a.column, a.row, a.column};
        product_detail::panel_rows<kMost>(count, left, panel, c + i * c_row + j, c_row, std::min(kColumns, n - j),
                                          depth, accumulate || p > 0);
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

// The same value, in a register: otherwise the compiler loads it again for each use.
template <class V>
V in_register(V vector) {
#if defined(__AVX__)
  asm("" : "+x"(vector));
#endif
  return vector;
}

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
