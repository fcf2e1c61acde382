#include "framework/ops/gelu_mlp.hpp"

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/matmul.hpp"
#include "framework/ops/ops.hpp"

namespace jari {
namespace {

// Returns the type of what stands between the layers.
TensorType require_layers(const char* op, const TensorType& x, const TensorType& inner, const TensorType& outer) {
  require_real(op, x);
  require_rank(op, "x", x, 1);
  require_rank(op, "inner_weight", inner, 2);
  require_rank(op, "outer_weight", outer, 2);
  require_type(op, "inner_weight", inner, {x.dtype, {x.shape[-1], inner.shape[1]}});
  require_type(op, "outer_weight", outer, {x.dtype, {inner.shape[1], outer.shape[1]}});
  Shape shape = x.shape;
  shape[-1] = inner.shape[1];
  return {x.dtype, shape};
}

TensorType result_type(const TensorType& x, const TensorType& outer) {
  Shape shape = x.shape;
  shape[-1] = outer.shape[1];
  return {x.dtype, shape};
}

std::vector<TensorType> infer(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  const std::size_t expected = attributes.as<GeluMlpAttributes>().biased ? 4 : 3;
  require_inputs("gelu_mlp", inputs.size(), expected, expected);
  const TensorType hidden = require_layers("gelu_mlp", inputs[0], inputs[1], inputs[2]);
  if (expected == 4) require_type("gelu_mlp", "inner_bias", inputs[3], {hidden.dtype, hidden.shape.last(1)});
  return {result_type(inputs[0], inputs[2]), hidden};
}

std::vector<TensorType> infer_gradient(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  const char* op = "gelu_mlp_gradient";
  require_inputs(op, inputs.size(), 5, 5);
  const TensorType hidden = require_layers(op, inputs[0], inputs[1], inputs[2]);
  require_type(op, "saved", inputs[3], hidden);
  require_type(op, "upstream", inputs[4], result_type(inputs[0], inputs[2]));
  std::vector<TensorType> outputs = {inputs[0], inputs[1], inputs[2]};
  if (attributes.as<GeluMlpAttributes>().biased) outputs.push_back({hidden.dtype, hidden.shape.last(1)});
  return outputs;
}

Value product(Value left, Value right, bool transpose_left = false, bool transpose_right = false) {
  return left.graph().apply_one(op_matmul, {left, right}, MatmulAttributes{transpose_left, transpose_right});
}

Value flat_rows(Value x) { return reshape(x, {x.shape().size() / x.shape()[-1], x.shape()[-1]}); }

std::vector<Value> body(Graph&, const std::vector<Value>& inputs, const Attributes& attributes) {
  Value hidden = product(flat_rows(inputs[0]), inputs[1]);
  if (attributes.as<GeluMlpAttributes>().biased) hidden = hidden + inputs[3];
  const Value result = product(gelu(hidden), inputs[2]);
  Shape shape = inputs[0].shape();
  shape[-1] = hidden.shape()[-1];
  Shape result_shape = shape;
  result_shape[-1] = result.shape()[-1];
  return {reshape(result, result_shape), reshape(hidden, shape)};
}

std::vector<Value> gradient_body(Graph& graph, const std::vector<Value>& inputs, const Attributes& attributes) {
  const Value x = flat_rows(inputs[0]), saved = flat_rows(inputs[3]), upstream = flat_rows(inputs[4]);
  const Value by_gelu = product(upstream, inputs[2], false, true);
  const Value by_hidden = graph.apply_one(op_gelu_gradient, {saved, by_gelu});
  std::vector<Value> gradients = {reshape(product(by_hidden, inputs[1], false, true), inputs[0].shape()),
                                  product(x, by_hidden, true), product(gelu(saved), upstream, true)};
  if (attributes.as<GeluMlpAttributes>().biased) gradients.push_back(reduce_sum(by_hidden, {0}));
  return gradients;
}

std::vector<Value> gradient(const GradientContext& context) {
  const std::vector<Value>& inputs = context.inputs;
  return context.graph.apply(op_gelu_mlp_gradient,
                             {inputs[0], inputs[1], inputs[2], context.outputs[1], context.output_gradients[0]},
                             context.attributes);
}

const Node* op_node(Value value, const Op& op) {
  const Node& node = value.graph().node(value.node());
  return node.kind == NodeKind::op && node.op == &op ? &node : nullptr;
}

// The product of a linear layer, with its bias or without.
bool is_layer(const Node* node) {
  if (node == nullptr || node->inputs[1].shape().rank() != 2) return false;
  const auto& attributes = node->attributes.as<MatmulAttributes>();
  return !attributes.transpose_left && !attributes.transpose_right && !attributes.added;
}

}  // namespace

const Op op_gelu_mlp = {.name = "gelu_mlp", .infer = infer, .gradient = gradient, .body = body};
const Op op_gelu_mlp_gradient = {.name = "gelu_mlp_gradient", .infer = infer_gradient, .body = gradient_body};

Value rewrite_gelu_mlp(Value left, Value right) {
  constexpr std::int64_t kSmallest = 1 << 18;  // numbers between the layers: fewer stay in a core's cache anyway
  Graph& graph = left.graph();
  const Node* activation = op_node(left, op_gelu);
  if (!graph.rewrites() || activation == nullptr || right.shape().rank() != 2 || left.shape().size() < kSmallest ||
      left.shape()[-1] != right.shape()[0]) {
    return {};
  }
  const Node* inner = op_node(activation->inputs[0], op_matmul);
  if (!is_layer(inner)) return {};
  std::vector<Value> inputs = {inner->inputs[0], inner->inputs[1], right};
  const bool biased = inner->attributes.as<MatmulAttributes>().biased;
  if (biased) inputs.push_back(inner->inputs[2]);
  return graph.apply(op_gelu_mlp, inputs, GeluMlpAttributes{biased})[0];
}

}  // namespace jari
