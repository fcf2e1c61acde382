#pragma once
// Products of matrices whose numbers are rounded to bf16 (8 bits of mantissa, to nearest, ties to even) and whose sums
// are f32. Operands are packed into tiles of 16 x 32 numbers first; on CPUs with AMX two such tiles are one
// instruction, on those with AVX-512's bf16 a pair of numbers is a lane of one.
//
// A tile of a left operand has 16 rows of 32 numbers along the contraction. A tile of a right operand has 16 pairs of
// numbers along the contraction for 16 columns: [pair][column][2]. Tiles lie [row block][depth block], zeros beyond the
// operand's ends.

#include <cstdint>

#include "framework/backend/cpu/small_product.hpp"

namespace jari::cpu {

inline constexpr std::int64_t kBf16Rows = 16, kBf16Depth = 32, kBf16Tile = kBf16Rows * kBf16Depth;

using Bf16 = std::uint16_t;

// Numbers of the packed form of [rows, depth], left or right.
inline std::int64_t bf16_size(std::int64_t rows, std::int64_t depth) {
  return (rows + kBf16Rows - 1) / kBf16Rows * ((depth + kBf16Depth - 1) / kBf16Depth) * kBf16Tile;
}

// a: [m, k], one of its strides 1.
void pack_left(Strided<float> a, std::int64_t m, std::int64_t k, Bf16* packed);
// b: [k, n], one of its strides 1.
void pack_right(Strided<float> b, std::int64_t k, std::int64_t n, Bf16* packed);

// c = a b, or c += it: packed [m, k], and the first k rows and n columns of a packed operand of `b_depth` rows -> [m,
// n].
void multiply_packed(const Bf16* a, const Bf16* b, std::int64_t b_depth, float* c, std::int64_t c_row, std::int64_t m,
                     std::int64_t n, std::int64_t k, bool accumulate);

// Whether it runs on AMX.
bool has_amx();

}  // namespace jari::cpu
