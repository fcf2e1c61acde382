// One value everywhere.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct ConstantParameters {
  PerTrial<double> value = 0.0;
  template <class F>
  void fields(F& f) {
    f("value", value, "first value of every number", required);
  }
};

class Constant final : public Init {
 public:
  explicit Constant(const ConstantParameters& parameters) : parameters_(parameters) {}
  void fill(const InitContext& context, std::span<double> out) const override {
    const double number = context.value_of(parameters_.value);
    for (double& value : out) value = number;
  }

 private:
  ConstantParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Init, jari::Constant, jari::ConstantParameters>("constant", "one value everywhere");
}
