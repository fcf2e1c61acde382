#pragma once
// Families `optimizer` and `schedule`.

#include <cstdint>

#include "framework/component/build_context.hpp"

namespace jari {

struct UpdateContext {
  const BuildContext& build;
  Value step;                  // i32 scalar, from 0
  Value schedule_factor;       // real scalar: the schedule's value at this step, multiplies every learning rate
  std::string parameter_path;  // "model/embedding"
};

class Optimizer {
 public:
  static constexpr const char* kFamily = "optimizer";
  virtual ~Optimizer() = default;

  // Adds one parameter's step to the graph: calls graph.update() for the parameter and for the state that it declares
  // (zeros at first, under "optimizer/<state>/<parameter path>").
  virtual void update(const UpdateContext& context, Value parameter, Value gradient) const = 0;
};

struct ScheduleContext {
  std::int64_t step = 0;   // from 0
  std::int64_t steps = 0;  // of the whole training
};

class Schedule {
 public:
  static constexpr const char* kFamily = "schedule";
  virtual ~Schedule() = default;
  // Factor on the learning rate at a step; finite, >= 0.
  virtual double factor(const ScheduleContext& context) const = 0;
};

}  // namespace jari
