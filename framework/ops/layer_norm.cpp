#include "framework/ops/layer_norm.hpp"

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

void require_row_vector(const char* op, const char* operand, const TensorType& found, const TensorType& x) {
  require_type(op, operand, found, {x.dtype, x.shape.last(1)});
}

std::vector<TensorType> infer(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  const std::size_t expected = attributes.as<LayerNormAttributes>().shifted ? 3 : 2;
  require_inputs("layer_norm", inputs.size(), expected, expected);
  require_real("layer_norm", inputs[0]);
  require_rank("layer_norm", "x", inputs[0], 1);
  require_row_vector("layer_norm", "scale", inputs[1], inputs[0]);
  if (expected == 3) require_row_vector("layer_norm", "shift", inputs[2], inputs[0]);
  return {inputs[0]};
}

std::vector<TensorType> infer_gradient(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  require_inputs("layer_norm_gradient", inputs.size(), 3, 3);
  require_real("layer_norm_gradient", inputs[0]);
  require_rank("layer_norm_gradient", "x", inputs[0], 1);
  require_row_vector("layer_norm_gradient", "scale", inputs[1], inputs[0]);
  require_type("layer_norm_gradient", "upstream", inputs[2], inputs[0]);
  std::vector<TensorType> outputs = {inputs[0], inputs[1]};
  if (attributes.as<LayerNormAttributes>().shifted) outputs.push_back(inputs[1]);
  return outputs;
}

struct Normalized {
  Value x;                  // mean square 1
  Value inverse_deviation;  // [..., 1]
};

Normalized normalize(Value x, const LayerNormAttributes& options) {
  const Value centered = options.centered ? x - mean(x, {-1}, true) : x;
  const Value deviation = sqrt(mean(square(centered), {-1}, true) + options.epsilon);
  return {centered / deviation, scalar_like(x, 1.0) / deviation};
}

std::vector<Value> body(Graph&, const std::vector<Value>& inputs, const Attributes& attributes) {
  const auto& options = attributes.as<LayerNormAttributes>();
  const Value scaled = normalize(inputs[0], options).x * inputs[1];
  return {options.shifted ? scaled + inputs[2] : scaled};
}

std::vector<Value> gradient_body(Graph&, const std::vector<Value>& inputs, const Attributes& attributes) {
  const Value x = inputs[0], scale = inputs[1], upstream = inputs[2];
  const auto& options = attributes.as<LayerNormAttributes>();
  const Normalized normalized = normalize(x, options);
  const Value inner = upstream * scale;
  const Value along = inner - normalized.x * mean(inner * normalized.x, {-1}, true);
  const Value around = options.centered ? along - mean(inner, {-1}, true) : along;
  std::vector<int> rows;
  for (int axis = 0; axis + 1 < x.shape().rank(); ++axis) rows.push_back(axis);
  const auto over_rows = [&](Value value) { return rows.empty() ? value : reduce_sum(value, rows); };
  std::vector<Value> gradients = {around * normalized.inverse_deviation, over_rows(upstream * normalized.x)};
  if (options.shifted) gradients.push_back(over_rows(upstream));
  return gradients;
}

std::vector<Value> gradient(const GradientContext& context) {
  return context.graph.apply(op_layer_norm_gradient,
                             {context.inputs[0], context.inputs[1], context.output_gradients[0]}, context.attributes);
}

}  // namespace

const Op op_layer_norm = {.name = "layer_norm", .infer = infer, .gradient = gradient, .body = body, .in_place = {0}};
const Op op_layer_norm_gradient = {
    .name = "layer_norm_gradient", .infer = infer_gradient, .body = gradient_body, .in_place = {2, -1, -1}};

Value layer_norm(Value x, Value scale, std::optional<Value> shift, double epsilon) {
  std::vector<Value> inputs = {x, scale};
  if (shift) inputs.push_back(*shift);
  return x.graph().apply_one(op_layer_norm, inputs, LayerNormAttributes{epsilon, true, shift.has_value()});
}

Value rms_norm(Value x, Value scale, double epsilon) {
  return x.graph().apply_one(op_layer_norm, {x, scale}, LayerNormAttributes{epsilon, false, false});
}

}  // namespace jari
