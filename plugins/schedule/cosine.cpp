// Half a cosine down after the warm-up (Loshchilov and Hutter 2017, "SGDR", without restarts):
// factor = end + (1 - end) (1 + cos(pi progress)) / 2, progress = (step - warm_up) / (steps - warm_up).

#include <cmath>
#include <numbers>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class Cosine final : public Schedule {
 public:
  explicit Cosine(const DecayParameters& parameters) : parameters_(parameters) {}
  double factor(const ScheduleContext& context) const override {
    const WarmUp& warm_up = parameters_.warm_up;
    if (context.step < warm_up.warm_up) return warm_up.rise(context.step);
    const double height = (1 + std::cos(std::numbers::pi * warm_up.progress(context))) / 2;
    return parameters_.end + (1 - parameters_.end) * height;
  }

 private:
  DecayParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Schedule, jari::Cosine, jari::DecayParameters>("cosine", "falls along half a cosine");
}
