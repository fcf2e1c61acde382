#pragma once
// Attributes of the primitive ops, shared by shape rules, gradient rules and kernels.

#include <cstdint>
#include <vector>

#include "framework/graph/tensor_type.hpp"

namespace jari {

struct CastAttributes {
  DType dtype = DType::f32;
  template <class F>
  void fields(F& f) {
    f("dtype", dtype);
  }
};

// Of reshape and broadcast_to.
struct ShapeAttributes {
  Shape shape;
  template <class F>
  void fields(F& f) {
    f("shape", shape);
  }
};

struct PermuteAttributes {
  std::vector<int> order;  // axis i of the result is axis order[i] of the operand
  template <class F>
  void fields(F& f) {
    f("order", order);
  }
};

// Elements begin, begin + stride, ... below end. Axes of attributes count from the front.
struct SliceAttributes {
  int axis = 0;
  std::int64_t begin = 0, end = 0, stride = 1;
  template <class F>
  void fields(F& f) {
    f("axis", axis);
    f("begin", begin);
    f("end", end);
    f("stride", stride);
  }
};

struct PadAttributes {
  int axis = 0;
  std::int64_t before = 0, after = 0;
  template <class F>
  void fields(F& f) {
    f("axis", axis);
    f("before", before);
    f("after", after);
  }
};

struct ConcatAttributes {
  int axis = 0;
  template <class F>
  void fields(F& f) {
    f("axis", axis);
  }
};

struct IotaAttributes {
  std::int64_t count = 0;
  template <class F>
  void fields(F& f) {
    f("count", count);
  }
};

struct ReduceAttributes {
  std::vector<int> axes;  // ascending
  bool keep = false;      // reduced axes stay, with size 1
  template <class F>
  void fields(F& f) {
    f("axes", axes);
    f("keep", keep);
  }
};

struct ScatterAddAttributes {
  std::int64_t rows = 0;
  template <class F>
  void fields(F& f) {
    f("rows", rows);
  }
};

}  // namespace jari
