// Draws and optimizer steps.

#include <fmt/format.h>

#include <cmath>

#include "framework/base/hash.hpp"
#include "framework/base/philox.hpp"
#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

// The draw of one element, straight from the definition.
double uniform(const std::string& path, std::int64_t element) {
  const auto word = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
  const RandomStream stream = {(std::uint64_t{word(kSeedHigh)} << 32) | word(kSeedLow), hash64(path), word(kStep)};
  return static_cast<double>(uniform_f32(stream.bits(static_cast<std::uint64_t>(element))));
}

OpCase uniform_case(const Shape& shape) {
  return {.name = shape.to_string(),
          .operands = {},
          .build =
              [shape](Graph& graph, const std::vector<Value>&) {
                const Graph::Scope scope(graph, "model");
                return std::vector<Value>{random_uniform(graph, "noise", shape)};
              },
          .reference =
              [shape](const Arrays&) {
                Array out;
                for (std::int64_t i = 0; i < shape.size(); ++i) out.push_back(uniform("model/noise", i));
                return Arrays{out};
              },
          .tolerance_f32 = 0,
          .tolerance_f64 = 0,
          .differentiable = false};
}

OpCase dropout_case(const Shape& shape, double rate) {
  return {.name = fmt::format("{} at {}", shape.to_string(), rate),
          .operands = {real(shape)},
          .build =
              [rate](Graph& graph, const std::vector<Value>& x) {
                const Graph::Scope scope(graph, "model");
                return std::vector<Value>{dropout(x[0], "dropout", graph.constant(rate))};
              },
          .reference =
              [rate](const Arrays& x) {
                Array out;
                for (std::size_t i = 0; i < x[0].size(); ++i) {
                  const bool dropped = uniform("model/dropout", static_cast<std::int64_t>(i)) < rate;
                  out.push_back(dropped ? 0 : x[0][i] / (1 - rate));
                }
                return Arrays{out};
              },
          .differentiable = shape.size() < 1000};
}

OpCase sgd_case(const Shape& shape, SgdOptions options) {
  std::vector<Operand> operands = {real(shape), real(shape), real({}, 0, 1), real({}, 0, 1)};
  if (options.momentum != 0) operands.push_back(real(shape));
  const auto reference = [options](const Arrays& x) {
    Array parameter, momentum;
    for (std::size_t i = 0; i < x[0].size(); ++i) {
      const double slope = x[1][i] + x[3][0] * x[0][i];
      const double velocity = options.momentum != 0 ? options.momentum * x[4][i] + slope : slope;
      const double direction = options.nesterov ? slope + options.momentum * velocity : velocity;
      parameter.push_back(x[0][i] - x[2][0] * direction);
      momentum.push_back(velocity);
    }
    return options.momentum != 0 ? Arrays{parameter, momentum} : Arrays{parameter};
  };
  return {.name = fmt::format("{}, momentum {}{}", shape.to_string(), options.momentum,
                              options.nesterov ? ", Nesterov's" : ""),
          .operands = operands,
          .build =
              [options](Graph& graph, const std::vector<Value>& x) {
                const Value momentum = options.momentum != 0 ? x[4] : Value();
                const auto result = sgd_update(x[0], x[1], momentum, x[2], x[3], random_inputs(graph).step, options);
                std::vector<Value> outputs = {result.parameter};
                if (result.momentum) outputs.push_back(result.momentum);
                return outputs;
              },
          .reference = reference,
          .differentiable = false};
}

OpCase adam_case(const Shape& shape, AdamOptions options) {
  const auto reference = [options](const Arrays& x) {
    Arrays out(3);
    const double rate = x[4][0], decay = x[5][0];
    for (std::size_t i = 0; i < x[0].size(); ++i) {
      const double slope = x[1][i] + (options.decoupled_decay ? 0 : decay * x[0][i]);
      const double kept = options.decoupled_decay ? x[0][i] * (1 - rate * decay) : x[0][i];
      const double first = options.beta1 * x[2][i] + (1 - options.beta1) * slope;
      const double second = options.beta2 * x[3][i] + (1 - options.beta2) * slope * slope;
      const double mean = first / (1 - std::pow(options.beta1, kStep + 1));
      const double variance = second / (1 - std::pow(options.beta2, kStep + 1));
      out[0].push_back(kept - rate * mean / (std::sqrt(variance) + options.epsilon));
      out[1].push_back(first);
      out[2].push_back(second);
    }
    return out;
  };
  return {.name = fmt::format("{}, beta1 {}{}", shape.to_string(), options.beta1,
                              options.decoupled_decay ? ", decoupled decay" : ""),
          .operands = {real(shape), real(shape), real(shape), real(shape, 0.1, 1), real({}, 0, 1), real({}, 0, 1)},
          .build =
              [options](Graph& graph, const std::vector<Value>& x) {
                const auto result = adam_update(x[0], x[1], x[2], x[3], x[4], x[5], random_inputs(graph).step, options);
                return std::vector<Value>{result.parameter, result.first_moment, result.second_moment};
              },
          .reference = reference,
          .tolerance_f32 = 4e-6,
          .differentiable = false};
}

}  // namespace

OpCases cases_random_uniform() {
  return {{uniform_case({}), uniform_case({3}), uniform_case({5, 7}), uniform_case({70001})},
          {{"the same stream twice",
            [](Graph& graph) {
              random_uniform(graph, "noise", {3});
              random_uniform(graph, "noise", {3});
            },
            "random_uniform: 'noise' already names a random stream: give each draw a name of its own"}}};
}

OpCases cases_dropout() {
  return {{dropout_case({3}, 0.5), dropout_case({5, 7}, 0.1), dropout_case({5, 7}, 0), dropout_case({5, 7}, 0.875),
           dropout_case({70001}, 0.25)},
          {{"a rate of each element",
            [](Graph& graph) { dropout(graph.parameter("x", {3}), "dropout", graph.parameter("rate", {3})); },
            "dropout: rate must be f32[], not f32[3]"},
           {"the same stream twice",
            [](Graph& graph) {
              const Graph::Scope scope(graph, "model");
              const Value once = dropout(graph.parameter("x", {3}), "dropout", graph.constant(0.5));
              dropout(once, "dropout", graph.constant(0.5));
            },
            "dropout: 'model/dropout' already names a random stream: give each draw a name of its own\n  at model"}}};
}

OpCases cases_sgd_update() {
  return {{sgd_case({5, 7}, {}), sgd_case({5, 7}, {.momentum = 0.9}), sgd_case({}, {.momentum = 0.5}),
           sgd_case({70001}, {.momentum = 0.9, .nesterov = true})},
          {{"a gradient of another shape",
            [](Graph& graph) {
              const Value rate = graph.constant(0.1);
              sgd_update(graph.parameter("x", {3}), graph.parameter("gradient", {4}), {}, rate, rate,
                         random_inputs(graph).step, {});
            },
            "sgd_update: gradient must be f32[3], not f32[4]"}}};
}

OpCases cases_adam_update() {
  return {{adam_case({5, 7}, {}), adam_case({}, {}), adam_case({70001}, {.beta1 = 0.5, .decoupled_decay = true}),
           adam_case({9}, {.beta1 = 0.5, .beta2 = 0.9, .epsilon = 0.1})},
          {{"a moment of another shape",
            [](Graph& graph) {
              const Value x = graph.parameter("x", {3}), rate = graph.constant(0.1);
              adam_update(x, x, graph.parameter("moment", {2}), x, rate, rate, random_inputs(graph).step, {});
            },
            "adam_update: first_moment must be f32[3], not f32[2]"}}};
}

}  // namespace jari::test
