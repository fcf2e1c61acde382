// Normally distributed values, drawn from the trial's seed and the parameter's path.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct NormalParameters {
  PerTrial<double> std = 0.02;
  PerTrial<double> mean = 0.0;
  template <class F>
  void fields(F& f) {
    f("std", std, "standard deviation", at_least(0));
    f("mean", mean, "mean");
  }
};

class Normal final : public Init {
 public:
  explicit Normal(const NormalParameters& parameters) : parameters_(parameters) {}
  void fill(const InitContext& context, std::span<double> out) const override {
    fill_normal(context, context.value_of(parameters_.mean), context.value_of(parameters_.std), out);
  }

 private:
  NormalParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Init, jari::Normal, jari::NormalParameters>("normal", "normally distributed values");
}
