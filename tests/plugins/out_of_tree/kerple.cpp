// Kerple, logarithmic variant (Chi, Fan, Ramadge, Rudnicky 2022, section 4.1), untrained: bias = -r1 log(1 + r2
// |offset|).

#include <optional>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct KerpleParameters {
  PerTrial<double> r1 = 1.0;
  PerTrial<double> r2 = 1.0;
  template <class F>
  void fields(F& f) {
    f("r1", r1, "weight of the penalty", more_than(0));
    f("r2", r2, "how soon distance counts", more_than(0));
  }
};

class Kerple final : public Position {
 public:
  explicit Kerple(const KerpleParameters& parameters) : parameters_(parameters) {}

  std::optional<Value> bias(const PositionContext& context, Value, Value) const override {
    const BuildContext& build = context.build;
    const Value distance = abs(cast(offsets(context), build.graph.real()));  // [length, keys]
    return -(build.per_trial(parameters_.r1) * log(build.per_trial(parameters_.r2) * distance + 1.0));
  }

 private:
  KerpleParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Position, jari::Kerple, jari::KerpleParameters>("kerple",
                                                                     "a penalty that grows with log distance");
}
