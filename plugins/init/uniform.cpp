// Uniformly distributed values, drawn from the trial's seed and the parameter's path.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct UniformParameters {
  PerTrial<double> low = -0.1, high = 0.1;
  template <class F>
  void fields(F& f) {
    f("low", low, "smallest value");
    f("high", high, "bound above all values");
  }
  void check(FieldChecks& checks) const {
    if (low.example() > high.example()) checks.error("low", "lies above high", "swap them");
  }
};

class Uniform final : public Init {
 public:
  explicit Uniform(const UniformParameters& parameters) : parameters_(parameters) {}
  void fill(const InitContext& context, std::span<double> out) const override {
    fill_uniform(context, context.value_of(parameters_.low), context.value_of(parameters_.high), out);
  }

 private:
  UniformParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Init, jari::Uniform, jari::UniformParameters>("uniform", "uniformly distributed values");
}
