// The same learning rate throughout: factor 1, after the warm-up if there is one.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class Constant final : public Schedule {
 public:
  explicit Constant(const WarmUp& warm_up) : warm_up_(warm_up) {}
  double factor(const ScheduleContext& context) const override { return warm_up_.rise(context.step); }

 private:
  WarmUp warm_up_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Schedule, jari::Constant, jari::WarmUp>("constant", "the same learning rate throughout");
}
