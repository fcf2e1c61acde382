#include "framework/backend/cpu/bf16_tiles.hpp"

#include <algorithm>
#include <cstring>

#include "framework/backend/cpu/bf16_pairs.hpp"
#include "framework/backend/cpu/exchange.hpp"

#if defined(__AMX_TILE__) && defined(__AMX_BF16__) && defined(JARI_BF16_VECTORS)
#define JARI_AMX 1
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace jari::cpu {
namespace {

constexpr std::int64_t kRows = 16, kDepth = 32, kTile = kRows * kDepth / 2;  // a tile's size, and its pairs

std::int64_t blocks_of(std::int64_t count, std::int64_t block) { return (count + block - 1) / block; }

}  // namespace

std::int64_t bf16_tiles_bytes(std::int64_t rows, std::int64_t depth) {
  const std::int64_t tiles = blocks_of(rows, kRows) * blocks_of(depth, kDepth);
  return tiles * kTile * static_cast<std::int64_t>(sizeof(Bf16Pair));
}

#if defined(JARI_AMX)

namespace {

// One tile of an operand of which `rows` stand across the contraction and `depth` along it, both within a tile.
// `along`: whether the numbers of a row lie together in memory; `pairs_first`: whether it is a right operand's.
void pack_tile(const float* from, std::int64_t stride, bool along, bool pairs_first, std::int64_t rows,
               std::int64_t depth, Bf16Pair* packed) {
  Bf16Pair pairs[kRows][kRows];
  if (rows < kRows || depth < kDepth) std::memset(pairs, 0, sizeof pairs);
  if (along) {
    for (std::int64_t i = 0; i < rows; ++i) pair_neighbors(from + i * stride, depth, pairs[i]);
  } else {
    pair_rows(from, stride, depth, rows, pairs[0], kRows);
  }
  if (along == pairs_first) {
    exchange_16(pairs, kRows, packed, kRows);
  } else {
    std::memcpy(packed, pairs, sizeof pairs);
  }
}

// row, column: strides across and along the contraction.
void pack(const float* data, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t depth,
          bool pairs_first, Bf16Pair* packed) {
  const bool along = column == 1;
  for (std::int64_t i = 0; i < rows; i += kRows) {
    for (std::int64_t p = 0; p < depth; p += kDepth, packed += kTile)
      pack_tile(data + i * row + p * column, along ? row : column, along, pairs_first, std::min(kRows, rows - i),
                std::min(kDepth, depth - p), packed);
  }
}

constexpr std::int64_t kBlockRows = 2 * kRows;  // of the result, and columns: four sums in registers

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

// 32 x 32 numbers of the result. `blocks`: of the depth; `a`, `b`: two row blocks of tiles each, `.._next` pairs apart.
void multiply_block(const Bf16Pair* a, std::int64_t a_next, const Bf16Pair* b, std::int64_t b_next, float* c,
                    std::int64_t c_row, std::int64_t blocks, bool accumulate) {
  const long row_bytes = c_row * static_cast<long>(sizeof(float));
  float* const lower = c + kRows * c_row;
  if (accumulate) {
    _tile_loadd(0, c, row_bytes);
    _tile_loadd(1, c + kRows, row_bytes);
    _tile_loadd(2, lower, row_bytes);
    _tile_loadd(3, lower + kRows, row_bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (std::int64_t p = 0; p < blocks; ++p, a += kTile, b += kTile) {
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
  _tile_stored(1, c + kRows, row_bytes);
  _tile_stored(2, lower, row_bytes);
  _tile_stored(3, lower + kRows, row_bytes);
}

// A block whose last rows or columns may lie outside of the operands: `rows` and `columns` of it are there.
void multiply_part(const Bf16Pair* a, std::int64_t a_next, const Bf16Pair* b, std::int64_t b_next, float* c,
                   std::int64_t c_row, std::int64_t rows, std::int64_t columns, std::int64_t blocks, bool accumulate) {
  if (rows == kBlockRows && columns == kBlockRows)
    return multiply_block(a, a_next, b, b_next, c, c_row, blocks, accumulate);
  if (rows <= kRows) a_next = 0;  // there is no second row block: the first serves
  if (columns <= kRows) b_next = 0;
  float part[kBlockRows * kBlockRows];
  multiply_block(a, a_next, b, b_next, part, kBlockRows, blocks, false);
  for (std::int64_t i = 0; i < rows; ++i) {
    float* const to = c + i * c_row;
    for (std::int64_t j = 0; j < columns; ++j) to[j] = (accumulate ? to[j] : 0.0f) + part[i * kBlockRows + j];
  }
}

}  // namespace

bool has_bf16_tiles() {
  static const bool has = ask_for_tiles();
  return has;
}

void pack_left_tiles(Strided<float> a, std::int64_t m, std::int64_t k, void* packed) {
  pack(a.data, a.row, a.column, m, k, /*pairs_first=*/false, static_cast<Bf16Pair*>(packed));
}

void pack_right_tiles(Strided<float> b, std::int64_t k, std::int64_t n, void* packed) {
  pack(b.data, b.column, b.row, n, k, /*pairs_first=*/true, static_cast<Bf16Pair*>(packed));
}

void multiply_tiles(const void* a, const void* b, std::int64_t b_depth, float* c, std::int64_t c_row, std::int64_t m,
                    std::int64_t n, std::int64_t k, bool accumulate) {
  const auto *left = static_cast<const Bf16Pair*>(a), *right = static_cast<const Bf16Pair*>(b);
  const std::int64_t blocks = blocks_of(k, kDepth), a_next = blocks * kTile,
                     b_next = blocks_of(b_depth, kDepth) * kTile;
  configure_tiles();
  for (std::int64_t j = 0; j < n; j += kBlockRows) {
    for (std::int64_t i = 0; i < m; i += kBlockRows)
      multiply_part(left + i / kRows * a_next, a_next, right + j / kRows * b_next, b_next, c + i * c_row + j, c_row,
                    std::min(kBlockRows, m - i), std::min(kBlockRows, n - j), blocks, accumulate);
  }
}

#else

bool has_bf16_tiles() { return false; }
void pack_left_tiles(Strided<float>, std::int64_t, std::int64_t, void*) {}
void pack_right_tiles(Strided<float>, std::int64_t, std::int64_t, void*) {}
void multiply_tiles(const void*, const void*, std::int64_t, float*, std::int64_t, std::int64_t, std::int64_t,
                    std::int64_t, bool) {}

#endif

}  // namespace jari::cpu
