#pragma once
// How dense arrays lie: strides, and the axes of a reduction. What kernels of all devices ask of shapes.

#include <cstdint>
#include <vector>

#include "framework/graph/tensor_type.hpp"

namespace jari {

// Strides of a dense array, in elements.
inline std::vector<std::int64_t> dense_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()));
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= shape[axis];
  }
  return strides;
}

// Strides of a dense array by the axes of the shape that it is broadcast to: 0 along repeated axes.
inline std::vector<std::int64_t> broadcast_strides(const Shape& operand, const Shape& result) {
  const std::vector<std::int64_t> dense = dense_strides(operand);
  std::vector<std::int64_t> strides(static_cast<std::size_t>(result.rank()), 0);
  for (int back = 1; back <= operand.rank(); ++back) {
    if (operand[-back] != 1)
      strides[strides.size() - static_cast<std::size_t>(back)] = dense[dense.size() - static_cast<std::size_t>(back)];
  }
  return strides;
}

// Neighboring axes that are reduced together: [outer][reduced][inner] -> [outer][inner].
struct ReducedAxes {
  std::int64_t outer, reduced, inner;
};

// The groups of neighboring axes among `axes`, the last group first: each reduces the result of the one before, so
// `inner` has none of the reduced axes, and `outer` all before the group.
inline std::vector<ReducedAxes> reduced_axes(const Shape& shape, const std::vector<int>& axes) {
  std::vector<bool> reduces(static_cast<std::size_t>(shape.rank()), false);
  for (const int axis : axes) reduces[static_cast<std::size_t>(axis)] = true;
  std::vector<ReducedAxes> groups;
  std::int64_t inner = 1;  // product of the kept axes behind
  for (int axis = shape.rank() - 1; axis >= 0;) {
    const bool reduced_here = reduces[static_cast<std::size_t>(axis)];
    std::int64_t size = 1;
    for (; axis >= 0 && reduces[static_cast<std::size_t>(axis)] == reduced_here; --axis) size *= shape[axis];
    if (reduced_here) {
      groups.push_back({shape.first(axis + 1).size(), size, inner});
    } else {
      inner *= size;
    }
  }
  return groups;
}

}  // namespace jari
