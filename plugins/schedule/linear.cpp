// A straight line down after the warm-up: factor = 1 + (end - 1) progress, progress = (step - warm_up) / (steps -
// warm_up).

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class Linear final : public Schedule {
 public:
  explicit Linear(const DecayParameters& parameters) : parameters_(parameters) {}
  double factor(const ScheduleContext& context) const override {
    const WarmUp& warm_up = parameters_.warm_up;
    if (context.step < warm_up.warm_up) return warm_up.rise(context.step);
    return 1 + (parameters_.end - 1) * warm_up.progress(context);
  }

 private:
  DecayParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Schedule, jari::Linear, jari::DecayParameters>("linear", "falls in a straight line");
}
