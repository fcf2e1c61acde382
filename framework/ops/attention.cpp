#include "framework/ops/attention.hpp"

#include <fmt/core.h>

#include <limits>

#include "framework/ops/attributes.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/softmax.hpp"

namespace jari {

namespace {

// From [batch, heads, length, width] to the axes' order that the attributes say, or back.
Value arranged(Value x, const AttentionAttributes& attributes) {
  return attributes.tokens_first ? permute(x, {0, 2, 1, 3}) : x;
}

Shape arranged(const AttentionAttributes& attributes, std::int64_t batch, std::int64_t heads, std::int64_t length,
               std::int64_t width) {
  return attributes.tokens_first ? Shape{batch, length, heads, width} : Shape{batch, heads, length, width};
}

}  // namespace

AttentionSizes attention_sizes(const char* op, const AttentionAttributes& attributes, const TensorType& query,
                               const TensorType& key, const TensorType& value) {
  require_real(op, query);
  for (const TensorType* type : {&query, &key, &value}) {
    if (type->shape.rank() == 4) continue;
    throw ShapeError(fmt::format("{}: query, key and value must be [batch, {}, width], not {}, {}, {}", op,
                                 attributes.tokens_first ? "length, heads" : "heads, length", query.shape.to_string(),
                                 key.shape.to_string(), value.shape.to_string()));
  }
  const int heads = attributes.tokens_first ? 2 : 1, length = attributes.tokens_first ? 1 : 2;
  const AttentionSizes sizes = {.batch = query.shape[0],
                                .heads = query.shape[heads],
                                .length = query.shape[length],
                                .keys = key.shape[length],
                                .width = query.shape[3],
                                .value_width = value.shape[3]};
  const auto of_keys = [&](std::int64_t width) {
    return TensorType{query.dtype, arranged(attributes, sizes.batch, sizes.heads, sizes.keys, width)};
  };
  require_type(op, "key", key, of_keys(sizes.width));
  require_type(op, "value", value, of_keys(sizes.value_width));
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

std::vector<TensorType> infer(const std::vector<TensorType>& inputs, const Attributes& given) {
  require_inputs("attention", inputs.size(), 3, 4);
  const auto& attributes = given.as<AttentionAttributes>();
  const AttentionSizes sizes = attention_sizes("attention", attributes, inputs[0], inputs[1], inputs[2]);
  const DType dtype = inputs[0].dtype;
  if (inputs.size() == 4) require_bias("attention", inputs[3], sizes, dtype);
  return {{dtype, arranged(attributes, sizes.batch, sizes.heads, sizes.length, sizes.value_width)},
          saved_type(sizes, dtype)};
}

std::vector<TensorType> infer_gradient(const std::vector<TensorType>& inputs, const Attributes& given) {
  const char* op = "attention_gradient";
  const auto& attributes = given.as<AttentionAttributes>();
  const bool bias_gradient = attributes.bias_gradient;
  require_inputs(op, inputs.size(), bias_gradient ? 6 : 5, 6);
  const AttentionSizes sizes = attention_sizes(op, attributes, inputs[0], inputs[1], inputs[2]);
  const DType dtype = inputs[0].dtype;
  require_type(op, "saved", inputs[3], saved_type(sizes, dtype));
  require_type(op, "upstream", inputs[4],
               {dtype, arranged(attributes, sizes.batch, sizes.heads, sizes.length, sizes.value_width)});
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

std::vector<Value> body(Graph& graph, const std::vector<Value>& inputs, const Attributes& given) {
  const auto& attributes = given.as<AttentionAttributes>();
  const Value query = arranged(inputs[0], attributes), key = arranged(inputs[1], attributes);
  const Value* bias = inputs.size() == 4 ? &inputs[3] : nullptr;
  const Value rows = scores(graph, query, key, bias, attributes);
  const Value probabilities = softmax(rows);
  const Value result = arranged(matmul(probabilities, arranged(inputs[2], attributes)), attributes);
  if (attention_sizes("attention", attributes, inputs[0].type(), inputs[1].type(), inputs[2].type())
          .saves_probabilities()) {
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
  const Value query = arranged(inputs[0], options), key = arranged(inputs[1], options);
  const Value value = arranged(inputs[2], options), saved = inputs[3], upstream = arranged(inputs[4], options);
  Value probabilities = saved;
  if (saved.shape().rank() == 3) {
    Shape column = saved.shape();
    column.push_back(1);
    const Value* bias = inputs.size() == 6 ? &inputs[5] : nullptr;
    probabilities = exp(scores(graph, query, key, bias, options) - reshape(saved, column));
  }
  const Value by_score = graph.apply_one(op_softmax_gradient, {probabilities, matmul(upstream, value, false, true)});
  std::vector<Value> gradients = {arranged(matmul(by_score, key) * options.scale, options),
                                  arranged(matmul(by_score, query, true, false) * options.scale, options),
                                  arranged(matmul(probabilities, upstream, true, false), options)};
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
  const AttentionAttributes attributes{.scale = options.scale, .causal = options.causal};
  if (const Value cheaper = rewrite_attention(inputs, attributes)) return cheaper;
  return query.graph().apply(op_attention, inputs, attributes)[0];
}

Value attention_probabilities(Value query, Value key, std::optional<Value> bias, AttentionOptions options) {
  const AttentionAttributes attributes{.scale = options.scale, .causal = options.causal};
  return softmax(scores(query.graph(), query, key, bias ? &*bias : nullptr, attributes));
}

Value rewrite_attention(const std::vector<Value>& inputs, const AttentionAttributes& attributes) {
  Graph& graph = inputs[0].graph();
  if (!graph.rewrites()) return {};
  std::vector<Value> as_made = inputs;
  for (int i = 0; i < 3; ++i) {
    Value& input = as_made[static_cast<std::size_t>(i)];
    const Node& node = graph.node(input.node());
    const bool is_exchanged = node.kind == NodeKind::op && node.op == &op_permute &&
                              node.attributes.as<PermuteAttributes>().order == std::vector<int>{0, 2, 1, 3};
    if (!is_exchanged) return {};
    input = node.inputs[0];
  }
  AttentionAttributes exchanged = attributes;
  exchanged.tokens_first = true;
  return permute(graph.apply(op_attention, as_made, exchanged)[0], {0, 2, 1, 3});
}

}  // namespace jari
