#pragma once
// Sums of a matrix's columns, as gradients of what all rows share need them.

#include "framework/backend/cuda/rows.hpp"

namespace jari::cuda {

inline constexpr int kColumnWarps = 8;  // of a block of sum_columns

// Of [rows, width] to [chunks, width], a chunk being `rows_each` rows. A block takes a chunk of 32 columns: a warp adds
// every eighth row, in order, and then the warps' sums are added in order.
template <class T>
__global__ void sum_columns(Operand<const T> in, Operand<T> out, std::int64_t rows, std::int64_t width,
                            std::int64_t rows_each) {
  JARI_SHARED(T, parts, kColumnWarps * kWarp);
  const std::int64_t groups = (width + kWarp - 1) / kWarp;
  const std::int64_t chunk = blockIdx.x / groups, column = blockIdx.x % groups * kWarp + threadIdx.x % kWarp;
  const std::int64_t first = chunk * rows_each, end = first + rows_each < rows ? first + rows_each : rows;
  T sum = 0;
  if (column < width) {
    for (std::int64_t row = first + threadIdx.x / kWarp; row < end; row += kColumnWarps)
      sum += in.of_trial()[row * width + column];
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x >= kWarp || column >= width) return;
  for (int warp = 1; warp < kColumnWarps; ++warp) sum += parts[warp * kWarp + static_cast<int>(threadIdx.x)];
  out.of_trial()[chunk * width + column] = sum;
}

template <class T>
void launch_sum_columns(const Call& call, Operand<T> in, Operand<T> out, std::int64_t rows, std::int64_t width,
                        std::int64_t rows_each) {
  const std::int64_t chunks = rows == 0 ? 1 : blocks_of(rows, rows_each);  // no rows: zeros
  call.launch(sum_columns<T>, chunks * blocks_of(width, kWarp), kColumnWarps * kWarp, 0,
              Operand<const T>{in.data, in.stride}, out, rows, width, rows_each);
}

// To one row.
template <class T>
void launch_sum_columns(const Call& call, Operand<T> in, Operand<T> out, std::int64_t rows, std::int64_t width) {
  launch_sum_columns(call, in, out, rows, width, rows == 0 ? 1 : rows);
}

}  // namespace jari::cuda
