#pragma once
// Softmax cross-entropy against target classes. A target below 0 is ignored; others must be less than the number of
// classes.

#include "framework/graph/op.hpp"

namespace jari {

struct CrossEntropyAttributes {
  bool by_position = false;  // one loss a position, 0 where ignored; otherwise their mean over the others (0 if none)

  template <class F>
  void fields(F& f) {
    f("by_position", by_position);
  }
};

}  // namespace jari
