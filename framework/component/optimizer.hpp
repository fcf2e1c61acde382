#pragma once
// Families `optimizer` and `schedule`.

#include <cstdint>
#include <string>
#include <vector>

#include "framework/component/build_context.hpp"

namespace jari {

struct UpdateContext {
  const BuildContext& build;
  Value step;                  // i32 scalar, from 0
  Value schedule_factor;       // real scalar: the schedule's value at this step, multiplies every learning rate
  Value schedule_history;      // real [kAdamHistory]: its values at the steps before this one, the newest last
  std::string parameter_path;  // "model/embedding"

  Value stored() const { return build.graph.find_parameter(parameter_path); }  // what holds it from step to step
};

// A mistake that shows only when the parameters are known. `field` is a path inside the component's own block,
// "groups.0.match": the caller knows the block's place in the spec.
struct ComponentError {
  std::string field, message, hint;
};

class Optimizer {
 public:
  static constexpr const char* kFamily = "optimizer";
  virtual ~Optimizer() = default;

  // Called once before `update`, with the paths of all trained parameters: groups whose pattern matches nothing are
  // mistakes in the spec.
  virtual std::vector<ComponentError> check(const std::vector<std::string>& /*parameter_paths*/) const { return {}; }

  // For a table of which a step reads no rows but those in `ids` (all rows, where there are none): a value to read in
  // its place. An optimizer may so let rows that are not read wait for their steps. The parameter itself: none wait.
  virtual Value prepare(const UpdateContext& /*context*/, Value parameter, const std::vector<Value>& /*ids*/) const {
    return parameter;
  }

  // Adds one parameter's step to the graph: calls graph.update() for context.stored() and for the state that it
  // declares (zeros at first, under "<state>/<parameter path>"). `parameter` is the value that the step begins with:
  // the stored one, or what `prepare` gave. The caller has opened the scope "optimizer", so the state's full path is
  // "optimizer/first_moment/model/embedding".
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
  // Factor on the learning rate at a step (the first step is 0, as with PyTorch's LambdaLR); finite, >= 0.
  virtual double factor(const ScheduleContext& context) const = 0;
};

}  // namespace jari
