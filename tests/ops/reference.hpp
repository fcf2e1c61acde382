#pragma once
// Plain f64 index arithmetic that the references of several ops share.

#include <cstddef>

#include "framework/ops/differentiate.hpp"
#include "tests/ops/op_case.hpp"

namespace jari::test {

// The index along each axis of the element at `position` of a dense array.
inline std::vector<std::int64_t> index_of(const Shape& shape, std::int64_t position) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[static_cast<std::size_t>(axis)] = position % shape[axis];
    position /= shape[axis];
  }
  return index;
}

inline std::size_t position_of(const Shape& shape, const std::vector<std::int64_t>& index) {
  std::int64_t position = 0;
  for (int axis = 0; axis < shape.rank(); ++axis)
    position = position * shape[axis] + index[static_cast<std::size_t>(axis)];
  return static_cast<std::size_t>(position);
}

inline Shape broadcast_shape(const Shape& left, const Shape& right) {
  Shape shape;
  broadcast(left, right, shape);
  return shape;
}

// Element `position` of `x` after broadcasting from `from` to `to`.
inline double broadcast_element(const Array& x, const Shape& from, const Shape& to, std::int64_t position) {
  const std::vector<std::int64_t> index = index_of(to, position);
  std::vector<std::int64_t> own;
  for (int axis = 0; axis < from.rank(); ++axis)
    own.push_back(from[axis] == 1 ? 0 : index[static_cast<std::size_t>(axis + to.rank() - from.rank())]);
  return x[position_of(from, own)];
}

template <class Function>
Array map(const Array& x, const Function& function) {
  Array out;
  for (const double element : x) out.push_back(function(element));
  return out;
}

template <class Function>
Array map(const Array& x, const Array& y, const Function& function) {
  Array out;
  for (std::size_t i = 0; i < x.size(); ++i) out.push_back(function(x[i], y[i]));
  return out;
}

}  // namespace jari::test
