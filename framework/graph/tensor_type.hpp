#pragma once
// Element types and shapes.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace jari {

enum class DType { f32, f64, i32, boolean };

std::size_t size_of(DType dtype);  // bytes an element; a boolean is one byte, 0 or 1
const char* name_of(DType dtype);  // "f32" ...
inline bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

// Sizes of the axes, outermost first; rank 0 is a scalar. Row-major, always dense: there are no strides.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  explicit Shape(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {}

  int rank() const { return static_cast<int>(sizes_.size()); }
  std::int64_t size() const;  // number of elements; the largest integer where it does not fit
  // Axis from the front (0 ...) or from the back (-1 is the last).
  std::int64_t operator[](int axis) const;
  std::int64_t& operator[](int axis);
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  Shape first(int count) const;  // the first `count` axes
  Shape last(int count) const;
  void push_back(std::int64_t size) { sizes_.push_back(size); }
  std::string to_string() const;  // "[32, 128]"
  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> sizes_;
};

// NumPy's rule: align at the last axis; sizes are equal or one of them is 1. False where they do not fit.
bool broadcast(const Shape& left, const Shape& right, Shape& result);

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;

  std::size_t bytes() const { return static_cast<std::size_t>(shape.size()) * size_of(dtype); }
  std::string to_string() const;  // "f32[32, 128]"
  bool operator==(const TensorType&) const = default;
};

}  // namespace jari
