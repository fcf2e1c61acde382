#include "framework/ops/optimizer_step.hpp"

#include <cmath>

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/row_updates.hpp"

namespace jari {

namespace {

std::vector<TensorType> infer_sgd(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  const bool has_momentum = attributes.as<SgdAttributes>().momentum != 0;
  const std::size_t count = has_momentum ? 5 : 4;
  require_inputs("sgd_update", inputs.size(), count, count);
  const TensorType &parameter = inputs[0], scalar = {parameter.dtype, {}};
  require_real("sgd_update", parameter);
  require_type("sgd_update", "gradient", inputs[1], parameter);
  require_type("sgd_update", "learning_rate", inputs[2], scalar);
  require_type("sgd_update", "weight_decay", inputs[3], scalar);
  if (!has_momentum) return {parameter};
  require_type("sgd_update", "momentum", inputs[4], parameter);
  return {parameter, parameter};
}

std::vector<TensorType> infer_adam(const std::vector<TensorType>& inputs, const Attributes&) {
  require_inputs("adam_update", inputs.size(), 7, 7);
  const TensorType &parameter = inputs[0], scalar = {parameter.dtype, {}};
  require_real("adam_update", parameter);
  require_type("adam_update", "gradient", inputs[1], parameter);
  require_type("adam_update", "first_moment", inputs[2], parameter);
  require_type("adam_update", "second_moment", inputs[3], parameter);
  require_type("adam_update", "learning_rate", inputs[4], scalar);
  require_type("adam_update", "weight_decay", inputs[5], scalar);
  require_type("adam_update", "step", inputs[6], {DType::i32, {}});
  return {parameter, parameter, parameter};
}

std::vector<Value> sgd_body(Graph&, const std::vector<Value>& inputs, const Attributes& attributes) {
  const auto& options = attributes.as<SgdAttributes>();
  const Value parameter = inputs[0], learning_rate = inputs[2], weight_decay = inputs[3];
  const Value gradient = inputs[1] + weight_decay * parameter;
  if (options.momentum == 0) return {parameter - learning_rate * gradient};
  const Value momentum = inputs[4] * options.momentum + gradient;
  const Value direction = options.nesterov ? gradient + momentum * options.momentum : momentum;
  return {parameter - learning_rate * direction, momentum};
}

// 1 - beta^(step + 1).
Value bias_correction(double beta, Value step, DType dtype) {
  const Value count = cast(step, dtype) + 1.0;
  return scalar_like(count, 1) - exp(count * std::log(beta));
}

std::vector<Value> adam_body(Graph&, const std::vector<Value>& inputs, const Attributes& attributes) {
  const auto& options = attributes.as<AdamAttributes>();
  Value parameter = inputs[0], gradient = inputs[1];
  const Value learning_rate = inputs[4], weight_decay = inputs[5], step = inputs[6];
  if (options.decoupled_decay) {
    parameter = parameter - learning_rate * weight_decay * parameter;
  } else {
    gradient = gradient + weight_decay * parameter;
  }
  const Value first = inputs[2] * options.beta1 + gradient * (1 - options.beta1);
  const Value second = inputs[3] * options.beta2 + square(gradient) * (1 - options.beta2);
  const DType dtype = parameter.dtype();
  const Value step_size = learning_rate / bias_correction(options.beta1, step, dtype);
  const Value deviation = sqrt(second / bias_correction(options.beta2, step, dtype)) + options.epsilon;
  return {parameter - step_size * first / deviation, first, second};
}

}  // namespace

const Op op_sgd_update = {
    .name = "sgd_update", .infer = infer_sgd, .body = sgd_body, .in_place = {0, 4}, .steps = true};
const Op op_adam_update = {
    .name = "adam_update", .infer = infer_adam, .body = adam_body, .in_place = {0, 2, 3}, .steps = true};

// PyTorch's first step sets the momentum to the gradient; ours starts at zero, which comes to the same without `step`.
SgdResult sgd_update(Value parameter, Value gradient, Value momentum, Value learning_rate, Value weight_decay, Value,
                     SgdOptions options) {
  const std::optional<RowGradient> rows =
      options.momentum == 0 && parameter.graph().rewrites() ? combined_rows_of(gradient) : std::nullopt;
  if (rows) {
    return {parameter.graph().apply_one(op_sgd_update_rows,
                                        {parameter, rows->rows, rows->ids, learning_rate, weight_decay}),
            Value()};
  }
  const SgdAttributes attributes = {options.momentum, options.nesterov};
  std::vector<Value> inputs = {parameter, gradient, learning_rate, weight_decay};
  if (options.momentum != 0) inputs.push_back(momentum);
  const std::vector<Value> outputs = parameter.graph().apply(op_sgd_update, inputs, attributes);
  return {outputs[0], outputs.size() == 2 ? outputs[1] : Value()};
}

AdamResult adam_update(Value parameter, Value gradient, Value first_moment, Value second_moment, Value learning_rate,
                       Value weight_decay, Value step, AdamOptions options) {
  const AdamAttributes attributes = {options.beta1, options.beta2, options.epsilon, options.decoupled_decay};
  const std::vector<Value> outputs = parameter.graph().apply(
      op_adam_update, {parameter, gradient, first_moment, second_moment, learning_rate, weight_decay, step},
      attributes);
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace jari
