#pragma once
// Rows and columns of 16 x 16 numbers of 32 bits exchanged, in registers where there are enough.

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace jari::cpu {

// to[j, i] = from[i, j]; rows are `.._row` numbers apart.
inline void exchange_16(const void* from, std::int64_t from_row, void* to, std::int64_t to_row) {
  const auto* const source = static_cast<const char*>(from);
  auto* const target = static_cast<char*>(to);
  const std::int64_t from_bytes = from_row * 4, to_bytes = to_row * 4;
#if defined(__AVX512F__)
  // In three rounds: within four rows, between fours of rows, between quarters of vectors.
  __m512i rows[16], mixed[16];
  for (int i = 0; i < 16; ++i) rows[i] = _mm512_loadu_si512(source + i * from_bytes);
  for (int i = 0; i < 16; i += 4) {
    const __m512i low = _mm512_unpacklo_epi32(rows[i], rows[i + 1]), high = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    const __m512i low2 = _mm512_unpacklo_epi32(rows[i + 2], rows[i + 3]);
    const __m512i high2 = _mm512_unpackhi_epi32(rows[i + 2], rows[i + 3]);
    mixed[i] = _mm512_unpacklo_epi64(low, low2);
    mixed[i + 1] = _mm512_unpackhi_epi64(low, low2);
    mixed[i + 2] = _mm512_unpacklo_epi64(high, high2);
    mixed[i + 3] = _mm512_unpackhi_epi64(high, high2);
  }
  for (int i = 0; i < 4; ++i) {
    const __m512i a = _mm512_shuffle_i32x4(mixed[i], mixed[i + 4], 0x88);
    const __m512i b = _mm512_shuffle_i32x4(mixed[i], mixed[i + 4], 0xDD);
    const __m512i c = _mm512_shuffle_i32x4(mixed[i + 8], mixed[i + 12], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(mixed[i + 8], mixed[i + 12], 0xDD);
    _mm512_storeu_si512(target + i * to_bytes, _mm512_shuffle_i32x4(a, c, 0x88));
    _mm512_storeu_si512(target + (i + 4) * to_bytes, _mm512_shuffle_i32x4(b, d, 0x88));
    _mm512_storeu_si512(target + (i + 8) * to_bytes, _mm512_shuffle_i32x4(a, c, 0xDD));
    _mm512_storeu_si512(target + (i + 12) * to_bytes, _mm512_shuffle_i32x4(b, d, 0xDD));
  }
#else
  std::uint32_t numbers[16][16];
  for (int i = 0; i < 16; ++i) std::memcpy(numbers[i], source + i * from_bytes, sizeof numbers[i]);
  for (int j = 0; j < 16; ++j) {
    for (int i = 0; i < 16; ++i) std::memcpy(target + j * to_bytes + 4 * i, &numbers[i][j], 4);
  }
#endif
}

}  // namespace jari::cpu
