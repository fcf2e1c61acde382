#pragma once
// Who works on a row: a warp where rows are short, eight of them to a block, or a whole block.

#include "framework/backend/cuda/rows.hpp"

namespace jari::cuda {

inline constexpr int kRowsOfWarps = 8;                 // rows that a block of warps has at a time
inline constexpr std::int64_t kLongestWarpRow = 1024;  // elements that a warp takes alone
inline constexpr unsigned kRowThreads = kRowsOfWarps * kWarp;

struct WarpRow {
  static constexpr int kThreads = kWarp;
  static constexpr int kRows = kRowsOfWarps;
  __device__ static int row() { return static_cast<int>(threadIdx.x) / kWarp; }  // of the block's rows
  __device__ static int thread() { return static_cast<int>(threadIdx.x) % kWarp; }
  template <class T, class Combine>
  __device__ static T reduce(T value, Combine combine, T*) {
    return reduce_warp(value, combine);
  }
  // For all threads of the row; what they read of memory before is not what others write after.
  __device__ static void wait() { __syncwarp(); }
};

struct BlockRow {
  static constexpr int kThreads = kRowThreads;
  static constexpr int kRows = 1;
  __device__ static int row() { return 0; }
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  template <class T, class Combine>
  __device__ static T reduce(T value, Combine combine, T* parts) {  // `parts`: shared memory for 32 values
    return reduce_block(value, combine, parts);
  }
  __device__ static void wait() { __syncthreads(); }
};

}  // namespace jari::cuda
