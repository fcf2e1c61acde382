#include "framework/ops/cross_entropy.hpp"

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/linear_cross_entropy.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

// Logits [..., n] and targets [...]. Returns the type of the loss.
TensorType require_logits_and_targets(const char* op, const TensorType& logits, const TensorType& targets,
                                      bool by_position) {
  require_real(op, logits);
  require_rank(op, "logits", logits, 1);
  require_type(op, "targets", targets, {DType::i32, logits.shape.first(logits.shape.rank() - 1)});
  return {logits.dtype, by_position ? targets.shape : Shape{}};
}

std::vector<TensorType> infer(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  require_inputs("cross_entropy", inputs.size(), 2, 2);
  const bool by_position = attributes.as<CrossEntropyAttributes>().by_position;
  return {require_logits_and_targets("cross_entropy", inputs[0], inputs[1], by_position)};
}

// logits, targets, upstream -> the gradient of the logits.
std::vector<TensorType> infer_gradient(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  require_inputs("cross_entropy_gradient", inputs.size(), 3, 3);
  const bool by_position = attributes.as<CrossEntropyAttributes>().by_position;
  const TensorType loss = require_logits_and_targets("cross_entropy_gradient", inputs[0], inputs[1], by_position);
  require_type("cross_entropy_gradient", "upstream", inputs[2], loss);
  return {inputs[0]};
}

// [...] as [..., 1].
Value as_column(Value x) {
  Shape shape = x.shape();
  shape.push_back(1);
  return reshape(x, shape);
}

// [..., n], true at the target.
Value is_target(Graph& graph, Value logits, Value targets) {
  return equal(as_column(targets), iota(graph, logits.shape()[-1]));
}

Value is_counted(Graph& graph, Value targets) { return logical_not(less(targets, graph.constant_i32({}, {0}))); }

Value count(Graph& graph, Value targets, DType dtype) {
  const Value counted = sum_all(cast(is_counted(graph, targets), dtype));
  return maximum(counted, scalar_like(counted, 1));
}

std::vector<Value> body(Graph& graph, const std::vector<Value>& inputs, const Attributes& attributes) {
  const Value logits = inputs[0], targets = inputs[1];
  const Value picked = select(is_target(graph, logits, targets), log_softmax(logits), scalar_like(logits, 0));
  const Value losses = -reduce_sum(picked, {-1});
  if (attributes.as<CrossEntropyAttributes>().by_position) return {losses};
  return {sum_all(losses) / count(graph, targets, logits.dtype())};
}

std::vector<Value> gradient_body(Graph& graph, const std::vector<Value>& inputs, const Attributes& attributes) {
  const Value logits = inputs[0], targets = inputs[1], upstream = inputs[2];
  const Value difference = softmax(logits) - cast(is_target(graph, logits, targets), logits.dtype());
  const Value counted = select(as_column(is_counted(graph, targets)), difference, scalar_like(logits, 0));
  if (attributes.as<CrossEntropyAttributes>().by_position) return {counted * as_column(upstream)};
  return {counted * (upstream / count(graph, targets, logits.dtype()))};
}

std::vector<Value> gradient(const GradientContext& context) {
  return {
      context.graph.apply_one(op_cross_entropy_gradient,
                              {context.inputs[0], context.inputs[1], context.output_gradients[0]}, context.attributes),
      Value()};
}

}  // namespace

const Op op_cross_entropy = {.name = "cross_entropy", .infer = infer, .gradient = gradient, .body = body};
const Op op_cross_entropy_gradient = {
    .name = "cross_entropy_gradient", .infer = infer_gradient, .body = gradient_body, .in_place = {0}};

Value cross_entropy(Value logits, Value targets) {
  if (const Value cheaper = rewrite_cross_entropy(logits, targets)) return cheaper;
  return logits.graph().apply_one(op_cross_entropy, {logits, targets}, CrossEntropyAttributes{});
}

Value cross_entropy_by_position(Value logits, Value targets) {
  return logits.graph().apply_one(op_cross_entropy, {logits, targets}, CrossEntropyAttributes{.by_position = true});
}

}  // namespace jari
