#include "framework/ops/layer_norm.hpp"

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

void require_row_vector(const char* op, const char* operand, const TensorType& found, const TensorType& x) {
  require_type(op, operand, found, {x.dtype, x.shape.last(1)});
}

std::vector<TensorType> infer(const std::vector<TensorType>& inputs, const Attributes&) {
  require_inputs("layer_norm", inputs.size(), 3, 3);
  require_real("layer_norm", inputs[0]);
  require_rank("layer_norm", "x", inputs[0], 1);
  require_row_vector("layer_norm", "scale", inputs[1], inputs[0]);
  require_row_vector("layer_norm", "shift", inputs[2], inputs[0]);
  return {inputs[0]};
}

// x, scale, upstream -> the gradients of x, scale, shift.
std::vector<TensorType> infer_gradient(const std::vector<TensorType>& inputs, const Attributes&) {
  require_inputs("layer_norm_gradient", inputs.size(), 3, 3);
  require_real("layer_norm_gradient", inputs[0]);
  require_rank("layer_norm_gradient", "x", inputs[0], 1);
  require_row_vector("layer_norm_gradient", "scale", inputs[1], inputs[0]);
  require_type("layer_norm_gradient", "upstream", inputs[2], inputs[0]);
  return {inputs[0], inputs[1], inputs[1]};
}

struct Normalized {
  Value x;                  // mean 0, variance 1
  Value inverse_deviation;  // [..., 1]
};

Normalized normalize(Value x, double epsilon) {
  const Value centered = x - mean(x, {-1}, true);
  const Value deviation = sqrt(mean(square(centered), {-1}, true) + epsilon);
  return {centered / deviation, scalar_like(x, 1.0) / deviation};
}

std::vector<Value> body(Graph&, const std::vector<Value>& inputs, const Attributes& attributes) {
  return {normalize(inputs[0], attributes.as<LayerNormAttributes>().epsilon).x * inputs[1] + inputs[2]};
}

std::vector<Value> gradient_body(Graph&, const std::vector<Value>& inputs, const Attributes& attributes) {
  const Value x = inputs[0], scale = inputs[1], upstream = inputs[2];
  const Normalized normalized = normalize(x, attributes.as<LayerNormAttributes>().epsilon);
  const Value inner = upstream * scale;
  const Value x_gradient = (inner - mean(inner, {-1}, true) - normalized.x * mean(inner * normalized.x, {-1}, true)) *
                           normalized.inverse_deviation;
  std::vector<int> rows;
  for (int axis = 0; axis + 1 < x.shape().rank(); ++axis) rows.push_back(axis);
  if (rows.empty()) return {x_gradient, upstream * normalized.x, upstream};
  return {x_gradient, reduce_sum(upstream * normalized.x, rows), reduce_sum(upstream, rows)};
}

std::vector<Value> gradient(const GradientContext& context) {
  return context.graph.apply(op_layer_norm_gradient,
                             {context.inputs[0], context.inputs[1], context.output_gradients[0]}, context.attributes);
}

}  // namespace

const Op op_layer_norm = {.name = "layer_norm", .infer = infer, .gradient = gradient, .body = body, .in_place = {0}};
const Op op_layer_norm_gradient = {
    .name = "layer_norm_gradient", .infer = infer_gradient, .body = gradient_body, .in_place = {2, -1, -1}};

Value layer_norm(Value x, Value scale, Value shift, double epsilon) {
  return x.graph().apply_one(op_layer_norm, {x, scale, shift}, LayerNormAttributes{epsilon});
}

}  // namespace jari
