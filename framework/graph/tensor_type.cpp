#include "framework/graph/tensor_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "framework/base/error.hpp"

namespace jari {

std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 4;
    case DType::f64:
      return 8;
    case DType::i32:
      return 4;
    case DType::boolean:
      return 1;
  }
  return 0;
}

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::i32:
      return "i32";
    case DType::boolean:
      return "boolean";
  }
  return "?";
}

namespace {

std::size_t index_of(int axis, int rank) {
  JARI_ASSERT(axis >= -rank && axis < rank, fmt::format("axis {} of a shape of rank {}", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace

std::int64_t Shape::size() const {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes_) {
    if (__builtin_mul_overflow(product, size, &product)) return std::numeric_limits<std::int64_t>::max();
  }
  return product;
}

std::int64_t Shape::operator[](int axis) const { return sizes_[index_of(axis, rank())]; }

std::int64_t& Shape::operator[](int axis) { return sizes_[index_of(axis, rank())]; }

Shape Shape::first(int count) const {
  JARI_ASSERT(count >= 0 && count <= rank(), "more axes than the shape has");
  return Shape(std::vector<std::int64_t>(sizes_.begin(), sizes_.begin() + count));
}

Shape Shape::last(int count) const {
  JARI_ASSERT(count >= 0 && count <= rank(), "more axes than the shape has");
  return Shape(std::vector<std::int64_t>(sizes_.end() - count, sizes_.end()));
}

std::string Shape::to_string() const { return fmt::format("[{}]", fmt::join(sizes_, ", ")); }

bool broadcast(const Shape& left, const Shape& right, Shape& result) {
  const int rank = std::max(left.rank(), right.rank());
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(rank));
  for (int back = 1; back <= rank; ++back) {
    const std::int64_t a = back <= left.rank() ? left[-back] : 1;
    const std::int64_t b = back <= right.rank() ? right[-back] : 1;
    if (a != b && a != 1 && b != 1) return false;
    sizes[static_cast<std::size_t>(rank - back)] = a == 1 ? b : a;
  }
  result = Shape(std::move(sizes));
  return true;
}

std::string TensorType::to_string() const { return name_of(dtype) + shape.to_string(); }

}  // namespace jari
