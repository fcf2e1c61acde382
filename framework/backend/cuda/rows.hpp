#pragma once
// Reductions in a block of threads. The order in which a row's elements are added depends on its length and on the
// number of threads that take it, which shapes fix.

#include "framework/backend/cuda/cuda_kernel.hpp"

namespace jari::cuda {

inline constexpr int kWarp = 32;
inline constexpr unsigned kWholeWarp = 0xffffffffu;

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

struct Largest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

// Of the values of a warp's threads; all 32 must call it, and all get the result.
template <class T, class Combine>
__device__ T reduce_warp(T value, Combine combine) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
  return value;
}

// Of the values of a block's threads, whose number is a multiple of 32; all must call it, and all get the result.
// `parts` is shared memory for 32 values, which may be used again after the call.
template <class T, class Combine>
__device__ T reduce_block(T value, Combine combine, T* parts) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  value = reduce_warp(value, combine);
  if (lane == 0) parts[warp] = value;
  __syncthreads();
  value = parts[0];
  for (int i = 1; i < warps; ++i) value = combine(value, parts[i]);
  __syncthreads();
  return value;
}

// Threads for a row of `width` elements that a block takes: a power of two from 32 to 256.
inline unsigned threads_for_row(std::int64_t width) {
  unsigned threads = kWarp;
  while (threads < 256 && threads * 2 < width) threads *= 2;
  return threads;
}

}  // namespace jari::cuda
