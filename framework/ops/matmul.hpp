#pragma once
// The matrix product over the last two axes; leading axes broadcast.
//
// matmul: left, right [, bias [n]] [, addend, as the result] -> result, with both added.

#include "framework/graph/op.hpp"

namespace jari {

struct MatmulAttributes {
  bool transpose_left = false;   // left is [..., k, m]
  bool transpose_right = false;  // right is [..., n, k]
  bool biased = false, added = false;

  template <class F>
  void fields(F& f) {
    f("transpose_left", transpose_left);
    f("transpose_right", transpose_right);
    f("biased", biased);
    f("added", added);
  }
};

// The product's sizes: `batch` products of [m, k] x [k, n].
struct MatmulSizes {
  Shape batch;
  std::int64_t m = 0, k = 0, n = 0;
};
MatmulSizes matmul_sizes(const TensorType& left, const TensorType& right, const MatmulAttributes& attributes);

}  // namespace jari
