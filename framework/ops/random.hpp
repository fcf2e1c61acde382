#pragma once
// Draws. Element i of a tensor takes word i % 4 of block i / 4 of the RandomStream {seed, stream, step}, as 24 bits, in
// f32 and f64 alike: a reference run in f64 drops the same elements.

#include "framework/graph/op.hpp"

namespace jari {

struct RandomUniformAttributes {
  std::uint64_t stream = 0;  // hash of the path
  Shape shape;
  DType dtype = DType::f32;

  template <class F>
  void fields(F& f) {
    f("stream", stream);
    f("shape", shape);
    f("dtype", dtype);
  }
};

struct DropoutAttributes {
  std::uint64_t stream = 0;

  template <class F>
  void fields(F& f) {
    f("stream", stream);
  }
};

}  // namespace jari
