#include "framework/ops/random.hpp"

#include <fmt/core.h>

#include "framework/base/hash.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

void require_seed_and_step(const char* op, const TensorType& seed, const TensorType& step) {
  require_type(op, "seed", seed, {DType::i32, {2}});
  require_type(op, "step", step, {DType::i32, {}});
}

// seed, step -> [0, 1).
std::vector<TensorType> infer_uniform(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  require_inputs("random_uniform", inputs.size(), 2, 2);
  require_seed_and_step("random_uniform", inputs[0], inputs[1]);
  const auto& options = attributes.as<RandomUniformAttributes>();
  const TensorType result = {options.dtype, options.shape};
  require_real("random_uniform", result);
  return {result};
}

// seed, step, [asked,] [limits, others] -> ids.
std::vector<TensorType> infer_ids(const std::vector<TensorType>& inputs, const Attributes& attributes) {
  const auto& options = attributes.as<RandomIdsAttributes>();
  require_inputs("random_ids", inputs.size(), options.masked ? 3 : 2, 5);
  require_seed_and_step("random_ids", inputs[0], inputs[1]);
  constexpr std::int64_t kMostIds = 1 << 30;
  if (options.count < 1 || options.count > kMostIds)
    throw ShapeError(fmt::format("random_ids: draws from 1 to 2^30 ids, not {}", options.count));
  const RandomIdsInputs which(options, inputs);
  if (options.masked) {
    const TensorType& asked = inputs[2];
    require_dtype("random_ids", "what is asked for", asked, DType::i32);
    if (asked.shape.rank() > options.shape.rank() || options.shape.first(asked.shape.rank()) != asked.shape)
      throw ShapeError(fmt::format("random_ids: the first axes of {} must be those of what is asked for, {}",
                                   options.shape.to_string(), asked.to_string()));
  }
  if (which.limits >= 0) {
    const TensorType table{DType::i32, {options.count}};
    require_type("random_ids", "the limits", inputs[static_cast<std::size_t>(which.limits)], table);
    require_inputs("random_ids", inputs.size(), static_cast<std::size_t>(which.others) + 1, 5);
    require_type("random_ids", "the others", inputs[static_cast<std::size_t>(which.others)], table);
  }
  return {{DType::i32, options.shape}};
}

// x, rate, seed, step -> x with some elements dropped.
std::vector<TensorType> infer_dropout(const std::vector<TensorType>& inputs, const Attributes&) {
  require_inputs("dropout", inputs.size(), 4, 4);
  require_real("dropout", inputs[0]);
  require_type("dropout", "rate", inputs[1], {inputs[0].dtype, {}});
  require_seed_and_step("dropout", inputs[2], inputs[3]);
  return {inputs[0]};
}

std::vector<Value> dropout_body(Graph& graph, const std::vector<Value>& inputs, const Attributes& attributes) {
  const Value x = inputs[0], rate = inputs[1], seed = inputs[2], step = inputs[3];
  const Value draws =
      graph.apply_one(op_random_uniform, {seed, step},
                      RandomUniformAttributes{attributes.as<DropoutAttributes>().stream, x.shape(), x.dtype()});
  return {select(less(draws, rate), scalar_like(x, 0), x / (scalar_like(x, 1) - rate))};
}

// The same elements are dropped from the gradient: the same draws, so nothing is kept.
std::vector<Value> dropout_gradient(const GradientContext& context) {
  std::vector<Value> inputs = context.inputs;
  inputs[0] = context.output_gradients[0];
  return {context.graph.apply_one(op_dropout, inputs, context.attributes), Value(), Value(), Value()};
}

std::uint64_t stream_of(const Node& node) {
  if (node.op == &op_dropout) return node.attributes.as<DropoutAttributes>().stream;
  if (node.op == &op_random_uniform) return node.attributes.as<RandomUniformAttributes>().stream;
  return 0;
}

// The stream of `name` in the innermost scope. Two draws of one stream would be equal, so that is refused.
std::uint64_t new_stream(const Graph& graph, const char* op, const std::string& name) {
  const std::string path = graph.path(name);
  const std::uint64_t stream = hash64(path);
  for (int i = 0; i < graph.size(); ++i) {
    if (stream_of(graph.node(i)) != stream) continue;
    graph.fail(fmt::format("{}: '{}' already names a random stream: give each draw a name of its own", op, path));
  }
  return stream;
}

}  // namespace

const Op op_random_uniform = {.name = "random_uniform", .infer = infer_uniform};
const Op op_random_ids = {.name = "random_ids", .infer = infer_ids, .once = true};
const Op op_dropout = {
    .name = "dropout", .infer = infer_dropout, .gradient = dropout_gradient, .body = dropout_body, .in_place = {0}};

RandomInputs random_inputs(Graph& graph) {
  return {graph.input("random/seed", {DType::i32, {2}}, true), graph.input("random/step", {DType::i32, {}}, false)};
}

Value random_uniform(Graph& graph, const std::string& name, Shape shape) {
  const auto [seed, step] = random_inputs(graph);
  const RandomUniformAttributes attributes = {new_stream(graph, "random_uniform", name), std::move(shape),
                                              graph.real()};
  return graph.apply_one(op_random_uniform, {seed, step}, attributes);
}

Value random_ids(Graph& graph, const IdDraws& draws) {
  const auto [seed, step] = random_inputs(graph);
  std::vector<Value> inputs = {seed, step};
  if (draws.asked) inputs.push_back(draws.asked);
  if (draws.limits) {
    inputs.push_back(draws.limits);
    inputs.push_back(draws.others);
  }
  return graph.apply_one(op_random_ids, inputs,
                         RandomIdsAttributes{draws.stream, draws.shape, draws.count, draws.first, bool(draws.asked)});
}

Value dropout(Value x, const std::string& name, Value rate) {
  Graph& graph = x.graph();
  const auto [seed, step] = random_inputs(graph);
  return graph.apply_one(op_dropout, {x, rate, seed, step}, DropoutAttributes{new_stream(graph, "dropout", name)});
}

}  // namespace jari
