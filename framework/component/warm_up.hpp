#pragma once
// The warm-up that all schedules share.

#include <algorithm>

#include "framework/component/optimizer.hpp"
#include "framework/spec/fields.hpp"

namespace jari {

struct WarmUp {
  std::int64_t warm_up = 0;
  template <class F>
  void fields(F& f) {
    f("warm_up", warm_up, "steps over which the factor rises to 1 in equal parts; the first one is 1 / warm_up",
      at_least(0), unit("steps"));
  }

  // (step + 1) / warm_up during warm-up, then 1.
  double rise(std::int64_t step) const {
    return step < warm_up ? static_cast<double>(step + 1) / static_cast<double>(warm_up) : 1;
  }

  // Share of the steps after warm-up that are done: 0 at its end, 1 at the end of training.
  double progress(const ScheduleContext& context) const {
    const auto done = static_cast<double>(context.step - warm_up);
    const auto all = static_cast<double>(std::max<std::int64_t>(context.steps - warm_up, 1));
    return std::clamp(done / all, 0.0, 1.0);
  }
};

struct DecayParameters {
  WarmUp warm_up;
  double end = 0;
  template <class F>
  void fields(F& f) {
    warm_up.fields(f);
    f("end", end, "factor at the end of training", at_least(0));
  }
};

}  // namespace jari
