#pragma once
// The two layers of a transformer's MLP as one: gelu(x inner_weight + inner_bias) outer_weight, rows some at a time, so
// that what stands between the layers is never read from memory again.
//
// gelu_mlp: x [..., width], inner_weight [width, hidden], outer_weight [hidden, out] [, inner_bias [hidden]]
//   -> result [..., out], saved [..., hidden]: what gelu (GPT-2's, with tanh) was taken of.
// gelu_mlp_gradient: x, inner_weight, outer_weight, saved, upstream
//   -> the gradients of x, inner_weight, outer_weight [, inner_bias].

#include "framework/graph/op.hpp"

namespace jari {

struct GeluMlpAttributes {
  bool biased = false;  // whether there is an inner bias

  template <class F>
  void fields(F& f) {
    f("biased", biased);
  }
};

// The same as the product of `left` and `right` where left is such a gelu; an invalid Value where it is not, or is
// small, or the graph takes no rewrites.
Value rewrite_gelu_mlp(Value left, Value right);

}  // namespace jari
