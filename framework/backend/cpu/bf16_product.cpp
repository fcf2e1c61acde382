#include "framework/backend/cpu/bf16_product.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "framework/backend/cpu/exchange.hpp"

#if defined(__AVX512BF16__) && defined(__AVX512F__)
#define JARI_BF16_VECTORS 1
#include <immintrin.h>
#endif

#if defined(__AMX_TILE__) && defined(__AMX_BF16__) && defined(JARI_BF16_VECTORS)
#define JARI_AMX 1
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace jari::cpu {
namespace {

// To nearest, ties to even; NaN stays NaN.
std::uint32_t rounded(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nearest = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return value == value ? nearest : (bits >> 16) | 0x40u;
}

using Pairs = std::uint32_t[kBf16Rows][kBf16Rows];  // a tile as 16 x 16 pairs of numbers

// Numbers [rows, 2 pairs] that lie together along the contraction: rows of pairs.
void pair_along_rows(const float* from, std::int64_t row, std::int64_t rows, std::int64_t depth, Pairs& pairs) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* const numbers = from + i * row;
    for (std::int64_t p = 0; p < depth / 2; ++p)
      pairs[i][p] = rounded(numbers[2 * p]) | rounded(numbers[2 * p + 1]) << 16;
    if (depth % 2 != 0) pairs[i][depth / 2] = rounded(numbers[depth - 1]);
  }
}

// Numbers [depth, rows], rows of which are along the contraction: pairs of two of these rows.
void pair_across_rows(const float* from, std::int64_t row, std::int64_t rows, std::int64_t depth, Pairs& pairs) {
  for (std::int64_t p = 0; p < depth / 2; ++p) {
    const float *const low = from + 2 * p * row, *const high = low + row;
    for (std::int64_t i = 0; i < rows; ++i) pairs[p][i] = rounded(low[i]) | rounded(high[i]) << 16;
  }
  if (depth % 2 == 0) return;
  for (std::int64_t i = 0; i < rows; ++i) pairs[depth / 2][i] = rounded(from[(depth - 1) * row + i]);
}

#if defined(JARI_BF16_VECTORS)

// Whole tiles of the two, in vectors.
void pair_along_rows(const float* from, std::int64_t row, Pairs& pairs) {
  for (int i = 0; i < kBf16Rows; ++i) {
    const float* const numbers = from + i * row;
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(numbers + 16), _mm512_loadu_ps(numbers));
    std::memcpy(pairs[i], &both, sizeof both);
  }
}

void pair_across_rows(const float* from, std::int64_t row, Pairs& pairs) {
  const __m512i interleave = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
                                              6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  for (int p = 0; p < kBf16Rows; ++p) {
    const float* const low = from + 2 * p * row;
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(low + row), _mm512_loadu_ps(low));
    __m512i bits;
    std::memcpy(&bits, &both, sizeof bits);
    bits = _mm512_permutexvar_epi16(interleave, bits);
    std::memcpy(pairs[p], &bits, sizeof bits);
  }
}

#else

void pair_along_rows(const float* from, std::int64_t row, Pairs& pairs) {
  pair_along_rows(from, row, kBf16Rows, kBf16Depth, pairs);
}

void pair_across_rows(const float* from, std::int64_t row, Pairs& pairs) {
  pair_across_rows(from, row, kBf16Rows, kBf16Depth, pairs);
}

#endif

// One tile of an operand of which `rows` stand across the contraction and `depth` along it, both within a tile.
// `along`: whether the numbers of a row lie together in memory; `pairs_first`: whether it is a right operand's.
void pack_tile(const float* from, std::int64_t stride, bool along, bool pairs_first, std::int64_t rows,
               std::int64_t depth, Bf16* packed) {
  Pairs pairs;
  const bool is_whole = rows == kBf16Rows && depth == kBf16Depth;
  if (!is_whole) std::memset(pairs, 0, sizeof pairs);
  if (along) {
    is_whole ? pair_along_rows(from, stride, pairs) : pair_along_rows(from, stride, rows, depth, pairs);
  } else {
    is_whole ? pair_across_rows(from, stride, pairs) : pair_across_rows(from, stride, rows, depth, pairs);
  }
  if (along == pairs_first) {
    exchange_16(pairs, kBf16Rows, packed, kBf16Rows);
  } else {
    std::memcpy(packed, pairs, sizeof pairs);
  }
}

// row, column: strides across and along the contraction.
void pack(const float* data, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t depth,
          bool pairs_first, Bf16* packed) {
  const bool along = column == 1;
  for (std::int64_t i = 0; i < rows; i += kBf16Rows) {
    for (std::int64_t p = 0; p < depth; p += kBf16Depth, packed += kBf16Tile)
      pack_tile(data + i * row + p * column, along ? row : column, along, pairs_first, std::min(kBf16Rows, rows - i),
                std::min(kBf16Depth, depth - p), packed);
  }
}

constexpr std::int64_t kBlockRows = 2 * kBf16Rows;  // of the result, and columns: four sums in registers

#if defined(JARI_AMX)

// Linux lets a process use the tiles once it has asked.
bool ask_for_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

void configure_tiles() {
  struct alignas(64) {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes_a_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } const configuration;
  _tile_loadconfig(&configuration);
}

// 32 x 32 numbers of the result. `blocks`: of the depth; `a`, `b`: two row blocks of tiles each, `.._next` numbers
// apart.
void multiply_block(const Bf16* a, std::int64_t a_next, const Bf16* b, std::int64_t b_next, float* c,
                    std::int64_t c_row, std::int64_t blocks, bool accumulate) {
  const long row_bytes = c_row * static_cast<long>(sizeof(float));
  float* const lower = c + kBf16Rows * c_row;
  if (accumulate) {
    _tile_loadd(0, c, row_bytes);
    _tile_loadd(1, c + kBf16Rows, row_bytes);
    _tile_loadd(2, lower, row_bytes);
    _tile_loadd(3, lower + kBf16Rows, row_bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (std::int64_t p = 0; p < blocks; ++p, a += kBf16Tile, b += kBf16Tile) {
    _tile_loadd(4, a, 64);
    _tile_loadd(5, a + a_next, 64);
    _tile_loadd(6, b, 64);
    _tile_loadd(7, b + b_next, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, row_bytes);
  _tile_stored(1, c + kBf16Rows, row_bytes);
  _tile_stored(2, lower, row_bytes);
  _tile_stored(3, lower + kBf16Rows, row_bytes);
}

#else

bool ask_for_tiles() { return false; }
void configure_tiles() {}
void multiply_block(const Bf16*, std::int64_t, const Bf16*, std::int64_t, float*, std::int64_t, std::int64_t, bool) {}

#endif

#if defined(JARI_BF16_VECTORS)

// The same in vectors: sixteen rows of the result at a time, each a register.
void multiply_block_without_tiles(const Bf16* a, std::int64_t a_next, const Bf16* b, std::int64_t b_next, float* c,
                                  std::int64_t c_row, std::int64_t blocks) {
  for (std::int64_t half = 0; half < 4; ++half) {
    const Bf16 *left = a + half / 2 * a_next, *right = b + half % 2 * b_next;
    __m512 sums[kBf16Rows];
    for (__m512& sum : sums) sum = _mm512_setzero_ps();
    for (std::int64_t block = 0; block < blocks; ++block, left += kBf16Tile, right += kBf16Tile) {
      Pairs lefts;
      std::memcpy(lefts, left, sizeof lefts);
      for (int p = 0; p < kBf16Rows; ++p) {
        __m512bh rights;
        std::memcpy(&rights, right + 2 * kBf16Rows * p, sizeof rights);
#pragma GCC unroll 16
        for (int i = 0; i < kBf16Rows; ++i) {
          const __m512i pair = _mm512_set1_epi32(static_cast<int>(lefts[i][p]));
          __m512bh pairs;
          std::memcpy(&pairs, &pair, sizeof pairs);
          sums[i] = _mm512_dpbf16_ps(sums[i], pairs, rights);
        }
      }
    }
    float* const to = c + half / 2 * kBf16Rows * c_row + half % 2 * kBf16Rows;
    for (int i = 0; i < kBf16Rows; ++i) _mm512_storeu_ps(to + i * c_row, sums[i]);
  }
}

#else

float widened(std::uint32_t high_bits) { return std::bit_cast<float>(high_bits); }

// The same in plain C++.
void multiply_block_without_tiles(const Bf16* a, std::int64_t a_next, const Bf16* b, std::int64_t b_next, float* c,
                                  std::int64_t c_row, std::int64_t blocks) {
  for (std::int64_t half = 0; half < 4; ++half) {
    const Bf16 *left = a + half / 2 * a_next, *right = b + half % 2 * b_next;
    float sums[kBf16Rows][kBf16Rows] = {};
    for (std::int64_t block = 0; block < blocks; ++block, left += kBf16Tile, right += kBf16Tile) {
      Pairs lefts, rights;
      std::memcpy(lefts, left, sizeof lefts);
      std::memcpy(rights, right, sizeof rights);
      for (int p = 0; p < kBf16Rows; ++p) {
        for (int i = 0; i < kBf16Rows; ++i) {
          const float low = widened(lefts[i][p] << 16), high = widened(lefts[i][p] & 0xFFFF0000u);
#pragma omp simd
          for (int j = 0; j < kBf16Rows; ++j)
            sums[i][j] += low * widened(rights[p][j] << 16) + high * widened(rights[p][j] & 0xFFFF0000u);
        }
      }
    }
    float* const to = c + half / 2 * kBf16Rows * c_row + half % 2 * kBf16Rows;
    for (int i = 0; i < kBf16Rows; ++i) std::copy_n(sums[i], kBf16Rows, to + i * c_row);
  }
}

#endif

// A block whose last rows or columns may lie outside of the operands: `rows` and `columns` of it are there.
void multiply_part(const Bf16* a, std::int64_t a_next, const Bf16* b, std::int64_t b_next, float* c, std::int64_t c_row,
                   std::int64_t rows, std::int64_t columns, std::int64_t blocks, bool accumulate) {
  const bool is_whole = rows == kBlockRows && columns == kBlockRows;
  if (has_amx() && is_whole) return multiply_block(a, a_next, b, b_next, c, c_row, blocks, accumulate);
  if (rows <= kBf16Rows) a_next = 0;  // there is no second row block: the first serves
  if (columns <= kBf16Rows) b_next = 0;
  float part[kBlockRows * kBlockRows];
  if (has_amx()) {
    multiply_block(a, a_next, b, b_next, part, kBlockRows, blocks, false);
  } else {
    multiply_block_without_tiles(a, a_next, b, b_next, part, kBlockRows, blocks);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    float* const to = c + i * c_row;
    for (std::int64_t j = 0; j < columns; ++j) to[j] = (accumulate ? to[j] : 0.0f) + part[i * kBlockRows + j];
  }
}

}  // namespace

bool has_amx() {
  static const bool has = ask_for_tiles();
  return has;
}

void pack_left(Strided<float> a, std::int64_t m, std::int64_t k, Bf16* packed) {
  pack(a.data, a.row, a.column, m, k, /*pairs_first=*/false, packed);
}

void pack_right(Strided<float> b, std::int64_t k, std::int64_t n, Bf16* packed) {
  pack(b.data, b.column, b.row, n, k, /*pairs_first=*/true, packed);
}

void multiply_packed(const Bf16* a, const Bf16* b, std::int64_t b_depth, float* c, std::int64_t c_row, std::int64_t m,
                     std::int64_t n, std::int64_t k, bool accumulate) {
  const auto blocks_of = [](std::int64_t depth) { return (depth + kBf16Depth - 1) / kBf16Depth; };
  const std::int64_t blocks = blocks_of(k), a_next = blocks * kBf16Tile, b_next = blocks_of(b_depth) * kBf16Tile;
  if (has_amx()) configure_tiles();
  for (std::int64_t j = 0; j < n; j += kBlockRows) {
    for (std::int64_t i = 0; i < m; i += kBlockRows)
      multiply_part(a + i / kBf16Rows * a_next, a_next, b + j / kBf16Rows * b_next, b_next, c + i * c_row + j, c_row,
                    std::min(kBlockRows, m - i), std::min(kBlockRows, n - j), blocks, accumulate);
  }
}

}  // namespace jari::cpu
