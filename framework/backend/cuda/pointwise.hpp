#pragma once
// Loops over the elements of a result: one thread an element, with a stride where a grid would be too large.

#include "framework/backend/cuda/cuda_kernel.hpp"
#include "framework/backend/layout.hpp"

namespace jari::cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr std::int64_t kMostBlocks = 1 << 16;  // a thread then takes several elements

// function(i) for each i of [0, count), in any order.
template <class Function>
__global__ void for_each_element(std::int64_t count, Function function) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    function(i);
}

// `function` is a struct with `__device__ void operator()(std::int64_t i) const`, of which a trial's launch has a copy.
template <class Function>
void launch_elements(const Call& call, std::int64_t count, const Function& function) {
  const std::int64_t blocks = blocks_of(count, kThreads);
  call.launch(for_each_element<Function>, blocks < kMostBlocks ? blocks : kMostBlocks, kThreads, 0, count, function);
}

// Axes of a dense result and the strides, in elements, with which N operands pass along them; the innermost first. Axes
// along which all operands go on alike are merged.
template <int N>
struct StridedAxes {
  static constexpr int kMost = 8;
  int axes = 0;
  std::int64_t size[kMost] = {};
  std::int64_t stride[N][kMost] = {};

  // Where operand k's element for element `position` of the result is.
  __device__ std::int64_t offset(int k, std::int64_t position) const {
    std::int64_t offset = 0;
    for (int axis = 0; axis < axes; ++axis) {
      offset += position % size[axis] * stride[k][axis];
      position /= size[axis];
    }
    return offset;
  }
};

// `strides` by operand and axis of `shape`.
template <int N>
StridedAxes<N> strided_axes(const Shape& shape, const std::vector<std::int64_t> (&strides)[N]) {
  StridedAxes<N> result;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    const int last = result.axes - 1;
    bool merges = last >= 0;
    for (int k = 0; merges && k < N; ++k)
      merges = strides[k][static_cast<std::size_t>(axis)] == result.stride[k][last] * result.size[last];
    if (merges) {
      result.size[last] *= shape[axis];
      continue;
    }
    if (result.axes == StridedAxes<N>::kMost) throw DeviceError("the CUDA kernels take up to 8 axes");
    result.size[result.axes] = shape[axis];
    for (int k = 0; k < N; ++k) result.stride[k][result.axes] = strides[k][static_cast<std::size_t>(axis)];
    ++result.axes;
  }
  return result;
}

}  // namespace jari::cuda
