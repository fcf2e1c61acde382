#include "framework/backend/cpu/bf16_product.hpp"

#include <algorithm>

#include "framework/backend/cpu/bf16_pairs.hpp"
#include "framework/backend/cpu/bf16_tiles.hpp"

namespace jari::cpu {
namespace {

std::int64_t pairs_of(std::int64_t depth) { return (depth + 1) / 2; }

// `count` columns of a panel whose numbers lie together along the contraction, `column` from one to the next.
void pack_pair_columns(const float* columns, std::int64_t column, std::int64_t k, std::int64_t count,
                       Bf16Pair* packed) {
  constexpr std::int64_t kColumns = Panels<Bf16Pair>::kColumns, kMost = 16;
  for (std::int64_t first = 0; first < count; first += kMost) {
    const std::int64_t some = std::min(kMost, count - first);
    for (std::int64_t p = 0; p < pairs_of(k); p += kMost) {
      const std::int64_t depth = std::min(kMost, pairs_of(k) - p);
      Bf16Pair pairs[kMost][kMost];
      for (std::int64_t j = 0; j < some; ++j)
        pair_neighbors(columns + (first + j) * column + 2 * p, std::min(2 * kMost, k - 2 * p), pairs[j]);
      Bf16Pair* const to = packed + p * kColumns + first;
      if (some == kMost && depth == kMost) {
        exchange_16(pairs, kMost, to, kColumns);
        continue;
      }
      for (std::int64_t i = 0; i < depth; ++i) {
        for (std::int64_t j = 0; j < some; ++j) to[i * kColumns + j] = pairs[j][i];
      }
    }
  }
}

void pack_pair_panels(Strided<float> b, std::int64_t k, std::int64_t n, Bf16Pair* packed) {
  constexpr std::int64_t kColumns = Panels<Bf16Pair>::kColumns;
  for (std::int64_t first = 0; first < n; first += kColumns, packed += pairs_of(k) * kColumns) {
    const std::int64_t count = std::min(kColumns, n - first);
    if (count < kColumns) std::fill_n(packed, pairs_of(k) * kColumns, Bf16Pair{0});
    if (b.column == 1) {
      pair_rows(b.data + first, b.row, k, count, packed, kColumns);
    } else {
      pack_pair_columns(b.data + first * b.column, b.column, k, count, packed);
    }
  }
}

// Pairs lie as the numbers do.
Strided<Bf16Pair> pack_left_pairs(Strided<float> a, std::int64_t m, std::int64_t k, Bf16Pair* packed) {
  if (a.column == 1) {
    for (std::int64_t i = 0; i < m; ++i) pair_neighbors(a.data + i * a.row, k, packed + i * pairs_of(k));
    return {packed, pairs_of(k), 1};
  }
  pair_rows(a.data, a.column, k, m, packed, m);
  return {packed, 1, m};
}

std::int64_t whole_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::int64_t bf16_left_bytes(std::int64_t m, std::int64_t k) {
  const std::int64_t pairs = m * pairs_of(k);
  return has_bf16_tiles() ? bf16_tiles_bytes(m, k) : whole_lines(pairs * static_cast<std::int64_t>(sizeof(Bf16Pair)));
}

std::int64_t bf16_right_bytes(std::int64_t k, std::int64_t n) {
  const std::int64_t pairs = Panels<Bf16Pair>::size(pairs_of(k), n);
  return has_bf16_tiles() ? bf16_tiles_bytes(n, k) : whole_lines(pairs * static_cast<std::int64_t>(sizeof(Bf16Pair)));
}

Bf16Right pack_bf16(Strided<float> b, std::int64_t k, std::int64_t n, void* memory) {
  if (has_bf16_tiles()) {
    pack_right_tiles(b, k, n, memory);
  } else {
    pack_pair_panels(b, k, n, static_cast<Bf16Pair*>(memory));
  }
  return {memory, k};
}

void multiply_bf16(Strided<float> a, const Bf16Right& b, float* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                   std::int64_t k, bool accumulate, void* memory) {
  if (has_bf16_tiles()) {
    pack_left_tiles(a, m, k, memory);
    return multiply_tiles(memory, b.packed, b.depth, c, c_row, m, n, k, accumulate);
  }
  const Strided<Bf16Pair> left = pack_left_pairs(a, m, k, static_cast<Bf16Pair*>(memory));
  const Panels<Bf16Pair> panels = {static_cast<const Bf16Pair*>(b.packed), pairs_of(b.depth)};
  multiply_panels(left, panels, c, c_row, m, n, pairs_of(k), accumulate);
}

}  // namespace jari::cpu
