#pragma once
// Products in bf16 by AMX: operands are packed into tiles of 16 x 32 numbers, two of which are one instruction.
//
// A tile of a left operand has 16 rows of 32 numbers along the contraction. A tile of a right operand has 16 pairs of
// numbers along the contraction for 16 columns: [pair][column][2]. Tiles lie [row block][depth block], zeros beyond the
// operand's ends.

#include <cstdint>

#include "framework/backend/cpu/small_product.hpp"

namespace jari::cpu {

// Whether there is AMX. The functions below may be called only then.
bool has_bf16_tiles();

// Of a packed operand: `rows` across the contraction.
std::int64_t bf16_tiles_bytes(std::int64_t rows, std::int64_t depth);
// a: [m, k], b: [k, n], one of the strides 1.
void pack_left_tiles(Strided<float> a, std::int64_t m, std::int64_t k, void* packed);
void pack_right_tiles(Strided<float> b, std::int64_t k, std::int64_t n, void* packed);

// c = a b, or c += it: packed [m, k], and the first k rows and n columns of a packed operand of `b_depth` rows.
void multiply_tiles(const void* a, const void* b, std::int64_t b_depth, float* c, std::int64_t c_row, std::int64_t m,
                    std::int64_t n, std::int64_t k, bool accumulate);

}  // namespace jari::cpu
