#pragma once
// What optimizer/adam and optimizer/adamw share: they differ in how weight decay enters.

#include "framework/component/parameter_groups.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/row_updates.hpp"

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

  // Rows without a gradient wait until they are read (framework/ops/row_updates.hpp).
  Value prepare(const UpdateContext& context, Value parameter, const std::vector<Value>& ids) const override {
    const Settings settings = parameters_.of(context.parameter_path);
    return adam_catch_up(parameter, row_state(context, parameter, /*counts=*/true),
                         context.build.per_trial(settings.lr) * context.schedule_history,
                         context.build.per_trial(settings.weight_decay), context.step, ids, options(settings));
  }

  void update(const UpdateContext& context, Value parameter, Value gradient) const override {
    const Settings settings = parameters_.of(context.parameter_path);
    const Value lr = learning_rate_of(context, settings.lr);
    const Value weight_decay = context.build.per_trial(settings.weight_decay);
    Graph& graph = context.build.graph;
    const AdamRowState state = row_state(context, parameter, is_caught_up(parameter));
    if (is_caught_up(parameter)) {
      const std::optional<RowGradient> rows = combined_rows_of(gradient);
      JARI_ASSERT(rows, "the rows of " + context.parameter_path + " wait, and its gradient has none");
      const AdamRowsResult result = adam_update_rows(parameter, *rows, lr, weight_decay, context.step);
      graph.update(context.stored(), result.parameter);
      graph.update(state.first_moment, result.state.first_moment);
      graph.update(state.second_moment, result.state.second_moment);
      graph.update(state.steps_done, result.state.steps_done);
      return;
    }
    const AdamResult result = adam_update(parameter, gradient, state.first_moment, state.second_moment, lr,
                                          weight_decay, context.step, options(settings));
    graph.update(context.stored(), result.parameter);
    graph.update(state.first_moment, result.first_moment);
    graph.update(state.second_moment, result.second_moment);
  }

 private:
  using Settings = AdamSettings<kDecoupledDecay>;

  static AdamOptions options(const Settings& settings) {
    return {.beta1 = settings.beta1,
            .beta2 = settings.beta2,
            .epsilon = settings.epsilon,
            .decoupled_decay = kDecoupledDecay};
  }

  // Only tables whose rows may wait count the steps of each.
  static AdamRowState row_state(const UpdateContext& context, Value parameter, bool counts) {
    return {optimizer_state(context, "first_moment", parameter), optimizer_state(context, "second_moment", parameter),
            counts ? context.build.counter("steps_done/" + context.parameter_path, {parameter.shape()[0]}, {"row"})
                   : Value()};
  }

  Parameters parameters_;
};

}  // namespace jari
