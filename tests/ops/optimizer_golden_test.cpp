// The optimizer steps against torch.optim's weights (tests/golden/optimizers.json).

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/program/program.hpp"
#include "tests/ops/op_case.hpp"
#include "tests/support/files.hpp"

namespace jari::test {
namespace {

using nlohmann::json;

// A graph with one parameter "weights" of `count` elements that moves along the input "gradient".
void build_step(Graph& graph, const json& settings, bool is_sgd, bool is_adamw, std::int64_t count) {
  const Value weights = graph.parameter("weights", {count});
  const Value gradient = graph.input("gradient", {DType::f64, {count}}, true);
  const Value rate = graph.constant(settings.at("lr").get<double>());
  const Value decay = graph.constant(settings.value("weight_decay", 0.0));
  const Value step = random_inputs(graph).step;
  if (is_sgd) {
    const SgdOptions options = {settings.value("momentum", 0.0), settings.value("nesterov", false)};
    const Value momentum = options.momentum != 0 ? graph.parameter("momentum", {count}) : Value();
    const SgdResult result = sgd_update(weights, gradient, momentum, rate, decay, step, options);
    graph.update(weights, result.parameter);
    if (result.momentum) graph.update(momentum, result.momentum);
    return;
  }
  AdamOptions options = {.decoupled_decay = is_adamw};
  if (settings.contains("betas")) settings.at("betas").at(0).get_to(options.beta1);
  if (settings.contains("betas")) settings.at("betas").at(1).get_to(options.beta2);
  options.epsilon = settings.value("eps", options.epsilon);
  const Value first = graph.parameter("first", {count}), second = graph.parameter("second", {count});
  const AdamResult result = adam_update(weights, gradient, first, second, rate, decay, step, options);
  graph.update(weights, result.parameter);
  graph.update(first, result.first_moment);
  graph.update(second, result.second_moment);
}

TEST(OptimizerSteps, GiveTheWeightsOfPyTorch) {
  const json golden = json::parse(read_text(source_path("tests/golden/optimizers.json")));
  const auto start = golden.at("start").get<Array>();
  const auto gradients = golden.at("gradients").get<Arrays>();
  ASSERT_FALSE(golden.at("cases").empty());
  for (const auto& [name, golden_case] : golden.at("cases").items()) {
    SCOPED_TRACE(name);
    Graph graph(DType::f64);
    build_step(graph, golden_case.at("settings"), name.starts_with("sgd"), name.starts_with("adamw"),
               static_cast<std::int64_t>(start.size()));
    const Program program(graph);
    State state(graph, 1);
    state.write(0, *state.find("weights"), start);
    const auto expected = golden_case.at("weights_by_step").get<Arrays>();
    ASSERT_EQ(expected.size(), gradients.size());
    Program::Hooks hooks;
    hooks.feed = [&](int, std::int64_t step, const Tensors& inputs) {
      write_tensor(inputs, "gradient", gradients[static_cast<std::size_t>(step)]);
      if (inputs.has("random/step")) write_tensor(inputs, "random/step", {static_cast<double>(step)});
    };
    hooks.fetch = [&](int, std::int64_t, const Tensors&) { return true; };
    ThreadPool pool(1);
    const int trials[] = {0};
    for (std::size_t step = 0; step < expected.size(); ++step) {
      program.run(state, trials, static_cast<std::int64_t>(step), static_cast<std::int64_t>(step) + 1, hooks, pool);
      const Array found = state.read(0, *state.find("weights"));
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], expected[step][i], 2e-14 * (1 + std::abs(expected[step][i])))
            << "step " << step << ", weight " << i;
      }
    }
  }
}

}  // namespace
}  // namespace jari::test
