#include "framework/ops/softmax.hpp"

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

std::vector<TensorType> infer_rows(const char* op, const std::vector<TensorType>& inputs) {
  require_inputs(op, inputs.size(), 1, 1);
  require_real(op, inputs[0]);
  require_rank(op, "x", inputs[0], 1);
  return {inputs[0]};
}

std::vector<TensorType> infer_softmax(const std::vector<TensorType>& inputs, const Attributes&) {
  return infer_rows("softmax", inputs);
}

std::vector<TensorType> infer_log_softmax(const std::vector<TensorType>& inputs, const Attributes&) {
  return infer_rows("log_softmax", inputs);
}

std::vector<TensorType> infer_softmax_gradient(const std::vector<TensorType>& inputs, const Attributes&) {
  require_inputs("softmax_gradient", inputs.size(), 2, 2);
  require_real("softmax_gradient", inputs[0]);
  require_rank("softmax_gradient", "probabilities", inputs[0], 1);
  require_type("softmax_gradient", "upstream", inputs[1], inputs[0]);
  return {inputs[0]};
}

Value shift_by_maximum(Value x) { return x - maximum(reduce_max(x, {-1}, true), scalar_like(x, kLowestMaximum)); }

Value sum_of_row(Value x) { return maximum(reduce_sum(x, {-1}, true), scalar_like(x, kLowestSum)); }

std::vector<Value> softmax_body(Graph&, const std::vector<Value>& inputs, const Attributes&) {
  const Value powers = exp(shift_by_maximum(inputs[0]));
  return {powers / sum_of_row(powers)};
}

std::vector<Value> log_softmax_body(Graph&, const std::vector<Value>& inputs, const Attributes&) {
  const Value shifted = shift_by_maximum(inputs[0]);
  return {shifted - log(sum_of_row(exp(shifted)))};
}

std::vector<Value> softmax_gradient_body(Graph&, const std::vector<Value>& inputs, const Attributes&) {
  const Value probabilities = inputs[0], upstream = inputs[1];
  return {probabilities * (upstream - reduce_sum(probabilities * upstream, {-1}, true))};
}

std::vector<Value> softmax_rule(const GradientContext& context) {
  return {context.graph.apply_one(op_softmax_gradient, {context.outputs[0], context.output_gradients[0]})};
}

std::vector<Value> log_softmax_rule(const GradientContext& context) {
  const Value upstream = context.output_gradients[0];
  return {upstream - exp(context.outputs[0]) * reduce_sum(upstream, {-1}, true)};
}

}  // namespace

const Op op_softmax = {
    .name = "softmax", .infer = infer_softmax, .gradient = softmax_rule, .body = softmax_body, .in_place = {0}};
const Op op_softmax_gradient = {
    .name = "softmax_gradient", .infer = infer_softmax_gradient, .body = softmax_gradient_body, .in_place = {1}};
const Op op_log_softmax = {.name = "log_softmax",
                           .infer = infer_log_softmax,
                           .gradient = log_softmax_rule,
                           .body = log_softmax_body,
                           .in_place = {0}};

Value softmax(Value x) { return x.graph().apply_one(op_softmax, {x}); }

Value log_softmax(Value x) { return x.graph().apply_one(op_log_softmax, {x}); }

}  // namespace jari
