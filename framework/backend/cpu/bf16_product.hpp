#pragma once
// Products of matrices whose numbers are rounded to bf16 and whose sums are f32: on CPUs with AMX by tiles
// (bf16_tiles.hpp), elsewhere by panels of pairs (bf16_pairs.hpp). Both operands are packed for it, the right one once.

#include <cstdint>

#include "framework/backend/cpu/small_product.hpp"

namespace jari::cpu {

struct Bf16Right {
  const void* packed;
  std::int64_t depth;  // k of the whole operand
};

// Bytes of a packed operand, whole cache lines.
std::int64_t bf16_left_bytes(std::int64_t m, std::int64_t k);
std::int64_t bf16_right_bytes(std::int64_t k, std::int64_t n);

// b: [k, n], one of its strides 1.
Bf16Right pack_bf16(Strided<float> b, std::int64_t k, std::int64_t n, void* memory);

// c = a b, or c += it: [m, k], one of its strides 1, and the first k rows and n columns of b -> [m, n]. `memory` is for
// the packed left operand.
void multiply_bf16(Strided<float> a, const Bf16Right& b, float* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                   std::int64_t k, bool accumulate, void* memory);

}  // namespace jari::cpu
