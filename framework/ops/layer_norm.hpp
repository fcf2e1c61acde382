#pragma once
// Layer normalization (Ba, Kiros, Hinton 2016) over the last axis, with scale and, if given, shift; and root mean
// square normalization (Zhang and Sennrich 2019), which leaves the mean in.
//
// layer_norm: x, scale [, shift] -> result.
// layer_norm_gradient: x, scale, upstream -> the gradients of x, scale [, shift].

#include "framework/graph/op.hpp"

namespace jari {

struct LayerNormAttributes {
  double epsilon = 1e-5;  // added to the (biased) variance, or to the mean square
  bool centered = true;   // whether the mean is taken out first
  bool shifted = true;    // whether there is a shift

  template <class F>
  void fields(F& f) {
    f("epsilon", epsilon);
    f("centered", centered);
    f("shifted", shifted);
  }
};

}  // namespace jari
