// Stochastic gradient descent with momentum, with PyTorch's update rule: g += weight_decay p; v = momentum v + g;
// p -= lr v, or lr (g + momentum v) with Nesterov's look ahead (Sutskever and others 2013).

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct SgdSettings {
  PerTrial<double> lr = 0.01;
  double momentum = 0;
  bool nesterov = false;
  PerTrial<double> weight_decay = 0.0;

  struct Group {
    std::optional<PerTrial<double>> lr;
    std::optional<double> momentum;
    std::optional<bool> nesterov;
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

  SgdSettings with(const Group& group) const {
    return {.lr = group.lr.value_or(lr),
            .momentum = group.momentum.value_or(momentum),
            .nesterov = group.nesterov.value_or(nesterov),
            .weight_decay = group.weight_decay.value_or(weight_decay)};
  }

  void check(FieldChecks& checks) const {
    if (nesterov && momentum == 0)
      checks.error("nesterov", "looks ahead along the momentum, and there is none", "set momentum, for example to 0.9");
  }

 private:
  template <class F, class Keys>
  static void describe(F& f, Keys& keys) {
    f("lr", keys.lr, "learning rate", at_least(0));
    f("momentum", keys.momentum, "share of the last step's direction that is kept", from_below(0, 1));
    f("nesterov", keys.nesterov, "take the gradient's step once more along the new momentum");
    f("weight_decay", keys.weight_decay, "times the parameter, added to the gradient", at_least(0));
  }
};

class Sgd final : public Optimizer {
 public:
  using Parameters = GroupedParameters<SgdSettings>;
  explicit Sgd(const Parameters& parameters) : parameters_(parameters) {}

  std::vector<ComponentError> check(const std::vector<std::string>& parameter_paths) const override {
    return parameters_.check_groups(parameter_paths);
  }

  void update(const UpdateContext& context, Value parameter, Value gradient) const override {
    const SgdSettings settings = parameters_.of(context.parameter_path);
    const Value momentum = settings.momentum == 0 ? Value{} : optimizer_state(context, "momentum", parameter);
    const SgdResult result = sgd_update(parameter, gradient, momentum, learning_rate_of(context, settings.lr),
                                        context.build.per_trial(settings.weight_decay), context.step,
                                        {.momentum = settings.momentum, .nesterov = settings.nesterov});
    context.build.graph.update(context.stored(), result.parameter);
    if (momentum) context.build.graph.update(momentum, result.momentum);
  }

 private:
  Parameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Optimizer, jari::Sgd, jari::Sgd::Parameters>("sgd",
                                                                  "gradient descent, with momentum if asked for");
}
