#pragma once
// Optimizer steps as nodes, one a parameter: PyTorch's torch.optim.SGD, Adam and AdamW (without amsgrad and dampening).
//
// sgd_update: parameter, gradient, learning_rate, weight_decay [, momentum] -> parameter [, momentum].
// adam_update: parameter, gradient, first_moment, second_moment, learning_rate, weight_decay, step
//   -> parameter, first_moment, second_moment. `step` counts from 0.

#include "framework/graph/op.hpp"

namespace jari {

struct SgdAttributes {
  double momentum = 0;
  bool nesterov = false;

  template <class F>
  void fields(F& f) {
    f("momentum", momentum);
    f("nesterov", nesterov);
  }
};

struct AdamAttributes {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool decoupled_decay = false;

  template <class F>
  void fields(F& f) {
    f("beta1", beta1);
    f("beta2", beta2);
    f("epsilon", epsilon);
    f("decoupled_decay", decoupled_decay);
  }
};

}  // namespace jari
