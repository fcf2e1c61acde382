#pragma once
// Products whose right operand is packed for them once: panels of two vectors of columns, which stay in the first-level
// cache while tiles of rows go over them. As in small_product.hpp, each element's sum runs in an order that its sizes
// fix.

#include <algorithm>
#include <cstdint>

#include "framework/backend/cpu/exchange.hpp"
#include "framework/backend/cpu/small_product.hpp"

namespace jari::cpu {

// What products of T are summed in.
template <class T>
struct SumOfProducts {
  using type = T;
};
template <class T>
using SumOf = typename SumOfProducts<T>::type;

template <class T>
void add_product(Vector<T>& sum, T left, Vector<T> right) {
  sum += left * right;
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
[[gnu::noipa]] void panel_tile(const T* a, std::int64_t a_row, std::int64_t a_column, const T* panel, SumOf<T>* c,
                               std::int64_t c_row, std::int64_t k, bool accumulate) {
  constexpr int kVectors = 2, lanes = kVectorLanes<T>, kGroups = (kRows + 2) / 3;
  // Rows in threes, each with a pointer that the compiler may not take apart: twelve offsets would fill all registers.
  const T* groups[kGroups];
#pragma GCC unroll 4
  for (int i = 0; i < kGroups; ++i) groups[i] = opaque(a + 3 * i * a_row);
  Vector<SumOf<T>> sums[kRows][kVectors] = {};
  for (std::int64_t p = 0; p < k; ++p, panel += kVectors * lanes) {
    const Vector<T> right[kVectors] = {load(panel), load(panel + lanes)};
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const T left = groups[i / 3][i % 3 * a_row];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) add_product(sums[i][v], left, right[v]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kGroups; ++i) groups[i] += a_column;
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      SumOf<T>* const to = c + i * c_row + v * lanes;
      store(to, accumulate ? load(to) + sums[i][v] : sums[i][v]);
    }
  }
}

// A tile of which only the first columns are there.
template <int kRows, class T>
[[gnu::noinline]] void panel_part(Strided<T> a, const T* panel, SumOf<T>* c, std::int64_t c_row, std::int64_t columns,
                                  std::int64_t k, bool accumulate) {
  constexpr std::int64_t kColumns = Panels<T>::kColumns;
  SumOf<T> part[kRows * kColumns];
  panel_tile<kRows>(a.data, a.row, a.column, panel, part, kColumns, k, false);
  for (int i = 0; i < kRows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      c[i * c_row + j] = (accumulate ? c[i * c_row + j] : 0) + part[i * kColumns + j];
  }
}

// `count` rows, at most kMost.
template <int kMost, class T>
void panel_rows(std::int64_t count, Strided<T> a, const T* panel, SumOf<T>* c, std::int64_t c_row, std::int64_t columns,
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
void multiply_panels(Strided<T> a, Panels<T> b, SumOf<T>* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
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

}  // namespace jari::cpu
