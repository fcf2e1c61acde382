// The probe and the optimizers against PyTorch in double precision (tests/golden/*.json).

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/ops/differentiate.hpp"
#include "tests/plugins/components.hpp"
#include "tests/support/golden.hpp"

namespace jari {
namespace {

using test::bound;
using test::Bound;
using test::expect_near;
using test::flat;
using test::golden;
using Json = nlohmann::json;

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

const std::map<std::string, std::string> kSchemes = {
    {"none", "{type: none, allow_bag_of_words: true}"},
    {"learned", "{type: learned, max_length: 9}"},
    {"sin", "sin"},
    {"rel", "{type: rel, max_length: 9}"},
    {"alibi", "{type: alibi, slopes: [0.5]}"},
    {"rope", "rope"},
};

std::string path_of(const std::string& name) {
  return name == "position" || name == "bias" ? "model/position/table" : "model/" + name;
}

// One optimizer step a run, as the trainer builds it.
class GoldenProbe {
 public:
  explicit GoldenProbe(const Json& example)
      : size_{.vocabulary = example.at("vocabulary"),
              .width = example.at("width"),
              .batch = static_cast<std::int64_t>(example.at("tokens").size()),
              .length = example.at("length"),
              .trained_length = example.at("length")},
        model_(bound<Model>(test::probe_block(kSchemes.at(example.at("scheme")), size_))),
        optimizer_(bound<Optimizer>("{type: adam, lr: " + example.at("adam_lr").dump() + "}")),
        tokens_(flat(example.at("tokens"))) {
    const BuildContext context{graph_, declarations_, size_.vocabulary, size_.length, size_.length, true};
    const TensorType ids{DType::i32, {size_.batch, size_.length}};
    const Value tokens = graph_.input("tokens", ids, true), targets = graph_.input("targets", ids, true);
    {
      const Graph::Scope scope(graph_, "model");
      graph_.output("logits", dynamic_cast<const SequenceModel&>(*model_).logits(context, tokens));
    }
    const Value loss = cross_entropy(graph_.outputs().front().second, targets);
    graph_.output("loss", loss);
    const std::vector<Value> parameters = graph_.parameters();
    const std::vector<Value> gradients = differentiate(graph_, loss, parameters);
    const Graph::Scope scope(graph_, "optimizer");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string path = graph_.node(parameters[i].node()).path;
      graph_.output("gradient/" + path, gradients[i]);
      const UpdateContext update{context, random_inputs(graph_).step, graph_.constant(1.0), Value(), path};
      (*optimizer_).update(update, parameters[i], gradients[i]);
    }
    state_ = std::make_unique<State>(graph_, 1);
  }

  void set(const Json& parameters) {
    for (const auto& [name, values] : parameters.items()) state_->write(0, *state_->find(path_of(name)), flat(values));
  }

  // Values of an output, by step.
  std::map<std::string, std::vector<std::vector<double>>> train(std::int64_t steps) {
    std::vector<double> targets(tokens_.size(), -1);
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i)
      if ((i + 1) % static_cast<std::size_t>(size_.length) != 0) targets[i] = tokens_[i + 1];
    NamedValues fixed = test::per_trial_values(graph_, {model_.resolved, optimizer_.resolved});
    fixed.emplace_back("tokens", tokens_);
    fixed.emplace_back("targets", targets);
    std::map<std::string, std::vector<std::vector<double>>> found;
    Program::Hooks hooks;
    hooks.feed = [&](int, std::int64_t step, const Tensors& inputs) {
      for (const auto& [name, values] : fixed) write_tensor(inputs, name, values);
      write_tensor(inputs, "random/step", {static_cast<double>(step)});
    };
    hooks.fetch = [&](int, std::int64_t, const Tensors& outputs) {
      for (const auto& [name, value] : graph_.outputs()) found[name].push_back(read_tensor(outputs, name));
      return true;
    };
    const int trial = 0;
    ThreadPool pool(1);
    Program(graph_).run(*state_, {&trial, 1}, 0, steps, hooks, pool);
    return found;
  }

  std::vector<double> parameter(const std::string& path) const { return state_->read(0, *state_->find(path)); }

 private:
  test::ProbeSize size_;
  Bound<Model> model_;
  Bound<Optimizer> optimizer_;
  std::vector<double> tokens_;
  Graph graph_{DType::f64};
  Declarations declarations_;
  std::unique_ptr<State> state_;
};

TEST(Golden, TheProbeWithEverySchemeEqualsPyTorchs) {
  const Json all = golden("probe");
  ASSERT_EQ(all.at("cases").size(), kSchemes.size());
  for (const Json& example : all.at("cases")) {
    SCOPED_TRACE(example.at("scheme").get<std::string>());
    GoldenProbe probe(example);
    probe.set(example.at("parameters"));
    const auto found = probe.train(10);
    expect_near(found.at("logits")[0], flat(example.at("logits")), 1e-12, "logits");
    for (const auto& [name, values] : example.at("gradients").items()) {
      const std::vector<double> expected = flat(values);
      expect_near(found.at("gradient/" + path_of(name))[0], expected, 1e-10 * largest(expected), name);
    }
    const std::vector<double> losses = flat(example.at("loss_by_step"));
    EXPECT_NEAR(found.at("loss")[0][0], example.at("loss").get<double>(), 1e-12);
    ASSERT_EQ(losses.size(), 10u);
    for (std::size_t step = 0; step < losses.size(); ++step)
      EXPECT_NEAR(found.at("loss")[step][0], losses[step], 1e-10) << step;
    for (const auto& [name, values] : example.at("parameters_after_10").items())
      expect_near(probe.parameter(path_of(name)), flat(values), 1e-9, name + " after ten steps");
  }
}

// Weights after each step with given gradients.
std::vector<std::vector<double>> steps_of(const std::string& block, const std::vector<double>& start,
                                          const std::vector<std::vector<double>>& gradients) {
  const Bound<Optimizer> optimizer = bound<Optimizer>(block);
  Graph graph(DType::f64);
  Declarations declarations;
  const BuildContext context{graph, declarations};
  const Shape shape{static_cast<std::int64_t>(start.size())};
  const Value weight = context.parameter("weight", shape, zeros(), {"number"});
  const Value gradient = graph.input("gradient", {DType::f64, shape}, true);
  optimizer->update({context, random_inputs(graph).step, graph.constant(1.0), Value(), "weight"}, weight, gradient);
  State state(graph, 1);
  state.write(0, *state.find("weight"), start);
  const NamedValues settings = test::per_trial_values(graph, {optimizer.resolved});
  std::vector<std::vector<double>> path;
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t step, const Tensors& inputs) {
    for (const auto& [name, values] : settings)
      if (inputs.has(name)) write_tensor(inputs, name, values);
    if (inputs.has("random/step")) write_tensor(inputs, "random/step", {static_cast<double>(step)});
    write_tensor(inputs, "gradient", gradients[static_cast<std::size_t>(step)]);
  };
  const int trial = 0;
  ThreadPool pool(1);
  const Program program(graph);
  for (std::int64_t step = 0; step < static_cast<std::int64_t>(gradients.size()); ++step) {
    program.run(state, {&trial, 1}, step, step + 1, hooks, pool);
    path.push_back(state.read(0, *state.find("weight")));
  }
  return path;
}

TEST(Golden, EveryOptimizerStepsAsPyTorchs) {
  const std::map<std::string, std::string> blocks = {
      {"sgd", "{type: sgd, lr: 0.1}"},
      {"sgd_momentum", "{type: sgd, lr: 0.1, momentum: 0.9}"},
      {"sgd_nesterov_decay", "{type: sgd, lr: 0.1, momentum: 0.9, nesterov: true, weight_decay: 0.01}"},
      {"adam", "{type: adam, lr: 0.01}"},
      {"adam_l2", "{type: adam, lr: 0.01, weight_decay: 0.1}"},
      {"adamw", "{type: adamw, lr: 0.01, beta1: 0.9, beta2: 0.95, weight_decay: 0.1}"}};
  const Json all = golden("optimizers");
  ASSERT_EQ(all.at("cases").size(), blocks.size());
  const auto gradients = all.at("gradients").get<std::vector<std::vector<double>>>();
  for (const auto& [name, example] : all.at("cases").items()) {
    SCOPED_TRACE(name);
    const auto path = steps_of(blocks.at(name), flat(all.at("start")), gradients);
    const auto expected = example.at("weights_by_step").get<std::vector<std::vector<double>>>();
    for (std::size_t step = 0; step < expected.size(); ++step)
      expect_near(path[step], expected[step], 1e-13, "step " + std::to_string(step));
  }
}

TEST(EveryOptimizer, StepsAgainstTheGradientTheSameWayEveryTime) {
  const std::vector<std::vector<double>> gradients = {{0.5, -0.25}, {1, -0.125}};
  for (const std::string& name : test::builtin_components().names("optimizer")) {
    SCOPED_TRACE(name);
    const auto path = steps_of(test::example_block("optimizer", name), {1, -2}, gradients);
    EXPECT_EQ(path, steps_of(test::example_block("optimizer", name), {1, -2}, gradients));
    EXPECT_LT(path[0][0], 1);
    EXPECT_GT(path[0][1], -2);
    EXPECT_LT(path[1][0], path[0][0]);
    EXPECT_GT(path[1][1], path[0][1]);
  }
}

TEST(ParameterGroups, GiveTheirParametersTheirOwnValues) {
  const std::vector<double> start = {1, -2};
  const std::vector<std::vector<double>> gradients = {{0.5, 0.25}, {-1, 0.125}};
  EXPECT_EQ(steps_of("{type: sgd, lr: 7, groups: [{match: 'w*', lr: 0.1}, {match: '*', lr: 3}]}", start, gradients),
            steps_of("{type: sgd, lr: 0.1}", start, gradients));
  EXPECT_EQ(steps_of("{type: adamw, lr: 7, groups: [{match: 'weight', lr: 0.1, weight_decay: 0}]}", start, gradients),
            steps_of("{type: adam, lr: 0.1}", start, gradients));
  EXPECT_EQ(steps_of("{type: sgd, lr: 0.1, groups: [{match: 'other', lr: 3}]}", start, gradients),
            steps_of("{type: sgd, lr: 0.1}", start, gradients));
}

TEST(ParameterGroups, AreCheckedAgainstTheParameters) {
  const auto optimizer = bound<Optimizer>("{type: adam, groups: [{match: 'model/postion/*', lr: 0.1}]}");
  const auto errors = optimizer->check({"model/position/table"});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "no parameter matches 'model/postion/*'");
}

}  // namespace
}  // namespace jari
