#pragma once
// Layer normalization (Ba, Kiros, Hinton 2016) over the last axis, with scale and shift.

#include "framework/graph/op.hpp"

namespace jari {

struct LayerNormAttributes {
  double epsilon = 1e-5;  // added to the (biased) variance

  template <class F>
  void fields(F& f) {
    f("epsilon", epsilon);
  }
};

}  // namespace jari
