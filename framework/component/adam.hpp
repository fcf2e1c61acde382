#pragma once
// What optimizer/adam and optimizer/adamw share: they differ in how weight decay enters.

#include "framework/component/parameter_groups.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

template <bool kDecoupledDecay>
struct AdamSettings {
  PerTrial<double> lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  PerTrial<double> weight_decay = kDecoupledDecay ? 0.01 : 0.0;

  // Any of the optimizer's keys, for the parameters of a group.
  struct Group {
    std::optional<PerTrial<double>> lr;
    std::optional<double> beta1, beta2, epsilon;
    std::optional<PerTrial<double>> weight_decay;
    template <class F>
    void fields(F& f) {
      describe(f, *this);
    }
  };

  template <class F>
  void fields(F& f) {
    describe(f, *this);
  }

  AdamSettings with(const Group& group) const {
    return {.lr = group.lr.value_or(lr),
            .beta1 = group.beta1.value_or(beta1),
            .beta2 = group.beta2.value_or(beta2),
            .epsilon = group.epsilon.value_or(epsilon),
            .weight_decay = group.weight_decay.value_or(weight_decay)};
  }

 private:
  template <class F, class Keys>
  static void describe(F& f, Keys& keys) {
    f("lr", keys.lr, "learning rate", at_least(0));
    f("beta1", keys.beta1, "decay of the mean of gradients, a step", from_below(0, 1));
    f("beta2", keys.beta2, "decay of the mean of squared gradients, a step", from_below(0, 1));
    f("epsilon", keys.epsilon, "added to the root of the mean square", at_least(0));
    f("weight_decay", keys.weight_decay,
      kDecoupledDecay ? "each step shrinks a parameter by lr * weight_decay"
                      : "times the parameter, added to the gradient",
      at_least(0));
  }
};

template <bool kDecoupledDecay>
class AdamOptimizer final : public Optimizer {
 public:
  using Parameters = GroupedParameters<AdamSettings<kDecoupledDecay>>;
  explicit AdamOptimizer(const Parameters& parameters) : parameters_(parameters) {}

  std::vector<ComponentError> check(const std::vector<std::string>& parameter_paths) const override {
    return parameters_.check_groups(parameter_paths);
  }

  void update(const UpdateContext& context, Value parameter, Value gradient) const override {
    const AdamSettings<kDecoupledDecay> settings = parameters_.of(context.parameter_path);
    const Value first = optimizer_state(context, "first_moment", parameter);
    const Value second = optimizer_state(context, "second_moment", parameter);
    const AdamOptions options{.beta1 = settings.beta1,
                              .beta2 = settings.beta2,
                              .epsilon = settings.epsilon,
                              .decoupled_decay = kDecoupledDecay};
    const AdamResult result = adam_update(parameter, gradient, first, second, learning_rate_of(context, settings.lr),
                                          context.build.per_trial(settings.weight_decay), context.step, options);
    Graph& graph = context.build.graph;
    graph.update(parameter, result.parameter);
    graph.update(first, result.first_moment);
    graph.update(second, result.second_moment);
  }

 private:
  Parameters parameters_;
};

}  // namespace jari
