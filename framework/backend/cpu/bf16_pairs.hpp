#pragma once
// Numbers rounded to bf16 (8 bits of mantissa, to nearest, ties to even), two that are neighbors along the contraction
// in one lane of 32 bits: with AVX-512's bf16 instructions such a lane is multiplied and added as fast as one f32.

#include <bit>
#include <cstdint>

#include "framework/backend/cpu/panel_product.hpp"

// Clang 16, which builds the fuzz targets, crashes on these instructions' vectors.
#if defined(__AVX512BF16__) && defined(__AVX512F__) && !defined(__clang__)
#define JARI_BF16_VECTORS 1
#include <immintrin.h>
#endif

namespace jari::cpu {

struct Bf16Pair {
  std::uint32_t bits;  // the first number in the lower half
};

// NaN stays NaN.
inline std::uint32_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nearest = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return value == value ? nearest : (bits >> 16) | 0x40u;
}

inline Bf16Pair pair_of(float first, float second) { return {bf16_bits(first) | bf16_bits(second) << 16}; }

// Pairs of neighbors among numbers [depth]; a last one alone is with 0.
inline void pair_neighbors(const float* numbers, std::int64_t depth, Bf16Pair* pairs) {
  std::int64_t p = 0;
#if defined(JARI_BF16_VECTORS)
  for (; p + 32 <= depth; p += 32) {
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(numbers + p + 16), _mm512_loadu_ps(numbers + p));
    __builtin_memcpy(pairs + p / 2, &both, sizeof both);
  }
#endif
  for (; p + 1 < depth; p += 2) pairs[p / 2] = pair_of(numbers[p], numbers[p + 1]);
  if (p < depth) pairs[p / 2] = pair_of(numbers[p], 0);
}

// Pairs of numbers at the same place in two rows.
inline void pair_rows(const float* first, const float* second, std::int64_t count, Bf16Pair* pairs) {
  std::int64_t i = 0;
#if defined(JARI_BF16_VECTORS)
  const __m512i interleave = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
                                              6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  for (; i + 16 <= count; i += 16) {
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(second + i), _mm512_loadu_ps(first + i));
    const __m512i mixed = _mm512_permutexvar_epi16(interleave, __builtin_bit_cast(__m512i, both));
    _mm512_storeu_si512(pairs + i, mixed);
  }
#endif
  for (; i < count; ++i) pairs[i] = pair_of(first[i], second[i]);
}

// Pairs of rows of numbers [depth, count], `pairs_row` apart; a last row alone is with zeros.
inline void pair_rows(const float* numbers, std::int64_t row, std::int64_t depth, std::int64_t count, Bf16Pair* pairs,
                      std::int64_t pairs_row) {
  for (; depth > 1; depth -= 2, numbers += 2 * row, pairs += pairs_row) pair_rows(numbers, numbers + row, count, pairs);
  for (std::int64_t i = 0; depth == 1 && i < count; ++i) pairs[i] = pair_of(numbers[i], 0);
}

// As elements of products: vectors of pairs, and sums in f32.
template <>
struct VectorOf<Bf16Pair> {
  using type = Vector<std::uint32_t>;
};
template <>
struct SumOfProducts<Bf16Pair> {
  using type = float;
};

inline void add_product(Vector<float>& sum, Bf16Pair left, Vector<std::uint32_t> right) {
#if defined(JARI_BF16_VECTORS)
  const __m512i lefts = _mm512_set1_epi32(static_cast<int>(left.bits));
  sum = _mm512_dpbf16_ps(sum, __builtin_bit_cast(__m512bh, lefts), __builtin_bit_cast(__m512bh, right));
#else
  constexpr std::uint32_t kHigh = 0xFFFF0000u;
  const Vector<std::uint32_t> first = right << 16, second = right & kHigh;
  sum += std::bit_cast<float>(left.bits << 16) * __builtin_bit_cast(Vector<float>, first);
  sum += std::bit_cast<float>(left.bits & kHigh) * __builtin_bit_cast(Vector<float>, second);
#endif
}

}  // namespace jari::cpu
