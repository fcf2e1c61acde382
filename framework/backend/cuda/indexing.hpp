#pragma once
// Where an element lies, from its position in a dense array. A division of 64-bit numbers takes several times as long
// as one of 32-bit numbers, which nearly all positions are.

#include "framework/backend/cuda/pointwise.hpp"

namespace jari::cuda {

struct Split {
  std::int64_t quotient, remainder;
};

// Of numbers that are not negative.
__device__ inline Split split(std::int64_t position, std::int64_t size) {
  if (((position | size) >> 32) == 0) {
    const auto small = static_cast<std::uint32_t>(position), by = static_cast<std::uint32_t>(size);
    const std::uint32_t quotient = small / by;
    return {quotient, small - quotient * by};
  }
  return {position / size, position % size};
}

// Where all operands' elements for element `position` of the result are.
template <int N>
__device__ void strided_offsets(const StridedAxes<N>& axes, std::int64_t position, std::int64_t (&offsets)[N]) {
  for (int k = 0; k < N; ++k) offsets[k] = 0;
  for (int axis = 0; axis < axes.axes; ++axis) {
    std::int64_t at = position;
    if (axis + 1 < axes.axes) {
      const Split here = split(position, axes.size[axis]);
      at = here.remainder;
      position = here.quotient;
    }
    for (int k = 0; k < N; ++k) offsets[k] += at * axes.stride[k][axis];
  }
}

// Whether all operands lie like the result.
template <int N>
bool all_dense(const StridedAxes<N>& axes) {
  for (int k = 0; k < N; ++k) {
    if (axes.axes > 1 || (axes.axes == 1 && axes.stride[k][0] != 1)) return false;
  }
  return true;
}

}  // namespace jari::cuda
