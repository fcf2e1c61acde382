#include "framework/ops/attention.hpp"

#include <fmt/core.h>

#include <limits>

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/softmax.hpp"

namespace jari {

AttentionSizes attention_sizes(const char* op, const TensorType& query, const TensorType& key,
                               const TensorType& value) {
  require_real(op, query);
  for (const TensorType* type : {&query, &key, &value}) {
    if (type->shape.rank() == 4) continue;
    throw ShapeError(fmt::format("{}: query, key and value must be [batch, heads, length, width], not {}, {}, {}", op,
                                 query.shape.to_string(), key.shape.to_string(), value.shape.to_string()));
  }
  const AttentionSizes sizes = {.batch = query.shape[0],
                                .heads = query.shape[1],
                                .length = query.shape[2],
                                .keys = key.shape[2],
                                .width = query.shape[3],
                                .value_width = value.shape[3]};
  require_type(op, "key", key, {query.dtype, {sizes.batch, sizes.heads, sizes.keys, sizes.width}});
  require_type(op, "value", value, {query.dtype, {sizes.batch, sizes.heads, sizes.keys, sizes.value_width}});
  return sizes;
}

namespace {

void require_bias(const char* op, const TensorType& bias, const AttentionSizes& sizes, DType dtype) {
  require_dtype(op, "bias", bias, dtype);
  const Shape shared = {sizes.length, sizes.keys}, by_head = {sizes.heads, sizes.length, sizes.keys};
  if (bias.shape == shared || bias.shape == by_head) return;
  throw ShapeError(fmt::format("{}: bias must be {} or {} ([heads,] length, keys), not {}", op, shared.to_string(),
                               by_head.to_string(), bias.shape.to_string()));
}

TensorType saved_type(const AttentionSizes& sizes, DType dtype) {
  Shape shape = {sizes.batch, sizes.heads, sizes.length};
  if (sizes.saves_probabilities()) shape.push_back(sizes.keys);
  return {dtype, shape};
}

std::vector<TensorType> infer(const std::vector<TensorType>& inputs, const Attributes&) {
  require_inputs("attention", inputs.size(), 3, 4);
  const AttentionSizes sizes = attention_sizes("attention", inputs[0], inputs[1], inputs[2]);
  const DType dtype = inputs[0].dtype;
  if (inputs.size() == 4) require_bias("attention", inputs[3], sizes, dtype);
  return {{dtype, {sizes.batch, sizes.heads, sizes.length, sizes.value_width}}, saved_type(sizes, dtype)};
}

std::vector<TensorType> infer_gradient(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  const char* op = "attention_gradient";
  const bool bias_gradient = attributes.as<AttentionAttributes>().bias_gradient;
  require_inputs(op, inputs.size(), bias_gradient ? 6 : 5, 6);
  const AttentionSizes sizes = attention_sizes(op, inputs[0], inputs[1], inputs[2]);
  const DType dtype = inputs[0].dtype;
  require_type(op, "saved", inputs[3], saved_type(sizes, dtype));
  require_type(op, "upstream", inputs[4], {dtype, {sizes.batch, sizes.heads, sizes.length, sizes.value_width}});
  if (inputs.size() == 6) require_bias(op, inputs[5], sizes, dtype);
  std::vector<TensorType> outputs = {inputs[0], inputs[1], inputs[2]};
  if (bias_gradient) outputs.push_back(inputs[5]);
  return outputs;
}

// Scaled, biased, masked: [batch, heads, length, keys].
Value scores(Graph& graph, Value query, Value key, const Value* bias, const AttentionAttributes& attributes) {
  Value scores = matmul(query, key, false, true) * attributes.scale;
  if (bias) scores = scores + *bias;
  if (!attributes.causal) return scores;
  const std::int64_t length = query.shape()[2], keys = key.shape()[2];
  const Value is_later = less(reshape(iota(graph, length), {length, 1}), iota(graph, keys));
  const Value out = scalar_like(query, -std::numeric_limits<double>::infinity());
  return select(is_later, out, scores);
}

std::vector<Value> body(Graph& graph, const std::vector<Value>& inputs, const Attributes& attributes) {
  const Value query = inputs[0], key = inputs[1], value = inputs[2];
  const Value* bias = inputs.size() == 4 ? &inputs[3] : nullptr;
  const Value rows = scores(graph, query, key, bias, attributes.as<AttentionAttributes>());
  const Value probabilities = softmax(rows);
  const Value result = matmul(probabilities, value);
  if (attention_sizes("attention", query.type(), key.type(), value.type()).saves_probabilities()) {
    return {result, probabilities};
  }
  const Value largest = maximum(reduce_max(rows, {-1}), scalar_like(query, kLowestMaximum));
  Shape column = largest.shape();
  column.push_back(1);
  const Value sums = reduce_sum(exp(rows - reshape(largest, column)), {-1});
  return {result, largest + log(maximum(sums, scalar_like(query, kLowestSum)))};
}

// Sums over the batch, and over the heads of a bias that they share.
Value bias_gradient(Value by_pair, const Shape& bias) {
  return bias.rank() == 2 ? reduce_sum(by_pair, {0, 1}) : reduce_sum(by_pair, {0});
}

std::vector<Value> gradient_body(Graph& graph, const std::vector<Value>& inputs, const Attributes& attributes) {
  const auto& options = attributes.as<AttentionAttributes>();
  const Value query = inputs[0], key = inputs[1], value = inputs[2], saved = inputs[3], upstream = inputs[4];
  Value probabilities = saved;
  if (saved.shape().rank() == 3) {
    Shape column = saved.shape();
    column.push_back(1);
    const Value* bias = inputs.size() == 6 ? &inputs[5] : nullptr;
    probabilities = exp(scores(graph, query, key, bias, options) - reshape(saved, column));
  }
  const Value by_score = graph.apply_one(op_softmax_gradient, {probabilities, matmul(upstream, value, false, true)});
  std::vector<Value> gradients = {matmul(by_score, key) * options.scale,
                                  matmul(by_score, query, true, false) * options.scale,
                                  matmul(probabilities, upstream, true, false)};
  if (options.bias_gradient) gradients.push_back(bias_gradient(by_score, inputs[5].shape()));
  return gradients;
}

std::vector<Value> gradient(const GradientContext& context) {
  std::vector<Value> inputs = {context.inputs[0], context.inputs[1], context.inputs[2], context.outputs[1],
                               context.output_gradients[0]};
  AttentionAttributes attributes = context.attributes.as<AttentionAttributes>();
  const bool has_bias = context.inputs.size() == 4;
  attributes.bias_gradient = has_bias && context.wanted[3];
  // The saved probabilities make the bias itself needless, but its shape is the gradient's.
  if (has_bias) inputs.push_back(context.inputs[3]);
  std::vector<Value> gradients = context.graph.apply(op_attention_gradient, inputs, attributes);
  gradients.resize(context.inputs.size());
  return gradients;
}

}  // namespace

const Op op_attention = {.name = "attention", .infer = infer, .gradient = gradient, .body = body};
const Op op_attention_gradient = {.name = "attention_gradient", .infer = infer_gradient, .body = gradient_body};

Value attention(Value query, Value key, Value value, std::optional<Value> bias, AttentionOptions options) {
  std::vector<Value> inputs = {query, key, value};
  if (bias) inputs.push_back(*bias);
  return query.graph().apply(op_attention, inputs, AttentionAttributes{options.scale, options.causal})[0];
}

}  // namespace jari
