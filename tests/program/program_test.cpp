#include "framework/program/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "framework/base/error.hpp"
#include "framework/ops/ops.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TensorType kPair{DType::f64, {2}};

TEST(Program, EvaluatesWithInputs) {
  Graph graph(DType::f64);
  const Value x = graph.input("x", kPair, /*per_trial=*/false);
  EXPECT_THAT(evaluate(graph, x * x + 1.0, {{"x", {2, 3}}}), ElementsAre(5, 10));
}

TEST(Program, ASumOverNoAxesIsItsOperand) {
  Graph graph(DType::f64);
  const Value x = graph.input("x", kPair, /*per_trial=*/false);
  EXPECT_THAT(evaluate(graph, reduce_sum(x, {}), {{"x", {2, 3}}}), ElementsAre(2, 3));
}

TEST(Program, UpdatesParametersFromStepToStep) {
  Graph graph(DType::f64);
  const Value count = graph.parameter("count", {2});
  graph.update(count, count + 1.0);
  const Program program(graph);
  State state(graph, 1);
  ThreadPool pool(1);
  const int trials[] = {0};
  program.run(state, trials, 0, 5, {}, pool);
  EXPECT_THAT(state.read(0, *state.find("count")), ElementsAre(5, 5));
}

TEST(Program, ReadsOldValuesOfParametersThatChangePlaces) {
  Graph graph(DType::f64);
  const Value left = graph.parameter("left", {2}), right = graph.parameter("right", {2});
  graph.update(left, right + 0.0);
  graph.update(right, left + 0.0);
  const Program program(graph);
  State state(graph, 1);
  state.write(0, *state.find("left"), std::vector<double>{1, 2});
  state.write(0, *state.find("right"), std::vector<double>{3, 4});
  ThreadPool pool(1);
  const int trials[] = {0};
  program.run(state, trials, 0, 1, {}, pool);
  EXPECT_THAT(state.read(0, *state.find("left")), ElementsAre(3, 4));
  EXPECT_THAT(state.read(0, *state.find("right")), ElementsAre(1, 2));
}

TEST(Program, KeepsOutputsThatLaterNodesCouldOverwrite) {
  Graph graph(DType::f64);
  const Value x = graph.input("x", kPair, false);
  const Value early = exp(x);
  Value late = early;
  for (int i = 0; i < 5; ++i) late = late + 1.0;
  graph.output("early", early);
  graph.output("late", late);
  const Program program(graph);
  State state(graph, 1);
  ThreadPool pool(1);
  std::vector<double> seen;
  Program::Hooks hooks;
  hooks.feed = [](int, std::int64_t, const Tensors& inputs) { write_tensor(inputs, "x", {0, 0}); };
  hooks.fetch = [&](int, std::int64_t, const Tensors& outputs) {
    seen = {outputs.get<double>("early")[0], outputs.get<double>("late")[0]};
    return true;
  };
  const int trials[] = {0};
  program.run(state, trials, 0, 1, hooks, pool);
  EXPECT_THAT(seen, ElementsAre(1, 6));
}

TEST(Program, DropsWhatNothingNeedsAndComputesConstantsOnce) {
  Graph graph(DType::f64);
  const Value x = graph.input("x", kPair, false);
  const Value constant = exp(graph.constant({2}, {0, 1})) * 2.0;  // known at plan time
  log(x);                                                         // read by nobody
  graph.output("y", x + constant);
  const Program program(graph);
  EXPECT_EQ(program.report().nodes, 1) << program.to_string();
  EXPECT_THAT(program.to_string(), HasSubstr("add(input+0, constant+"));
}

TEST(Program, LetsAPointwiseResultTakeOverItsOperand) {
  Graph graph(DType::f64);
  Value x = graph.input("x", {DType::f64, {1000}}, false);
  for (int i = 0; i < 10; ++i) x = exp(x);
  graph.output("y", x);
  EXPECT_EQ(Program(graph).report().arena_bytes, 8000u);
}

TEST(Program, AReshapeCostsNothing) {
  Graph graph(DType::f64);
  const Value x = graph.input("x", {DType::f64, {2, 3}}, false);
  graph.output("y", reshape(exp(x), {6}));
  EXPECT_EQ(Program(graph).report().nodes, 1);
}

TEST(Program, EndsATrialWhenFetchSaysSo) {
  Graph graph(DType::f64);
  const Value count = graph.parameter("count", {});
  graph.update(count, count + 1.0);
  graph.output("count", count + 1.0);
  const Program program(graph);
  State state(graph, 3);
  ThreadPool pool(2);
  Program::Hooks hooks;
  hooks.fetch = [](int trial, std::int64_t step, const Tensors&) { return step < trial; };
  const int trials[] = {0, 1, 2};
  program.run(state, trials, 0, 10, hooks, pool);
  for (int trial = 0; trial < 3; ++trial) EXPECT_EQ(state.read(trial, *state.find("count"))[0], trial + 1);
}

// Each step's input is its number; the one that a trial ends before is fed and not run.
TEST(Program, FeedsStepsAheadInAnyNumberOfThreads) {
  Graph graph(DType::f64);
  const Value x = graph.input("x", kPair, false);
  const Value sum = graph.parameter("sum", {2});
  graph.update(sum, sum * 2.0 + x);
  graph.output("x", x + 0.0);
  const Program program(graph);
  for (const int threads : {1, 2, 3}) {
    State state(graph, 1);
    ThreadPool pool(threads);
    std::vector<double> seen;
    Program::Hooks hooks;
    hooks.feeds_ahead = true;
    hooks.feed = [](int, std::int64_t step, const Tensors& inputs) {
      if (step == 6) throw std::runtime_error("nobody asked for this step");
      write_tensor(inputs, "x", {static_cast<double>(step), 1});
    };
    hooks.fetch = [&](int, std::int64_t step, const Tensors& outputs) {
      seen.push_back(outputs.get<double>("x")[0]);
      return step < 5;
    };
    const int trials[] = {0};
    program.run(state, trials, 0, 3, hooks, pool);
    program.run(state, trials, 3, 9, hooks, pool);
    EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5)) << threads << " threads";
    EXPECT_THAT(state.read(0, *state.find("sum")), ElementsAre(57, 63)) << threads << " threads";
  }
}

TEST(Program, RefusesAStateThatLacksAParameter) {
  Graph graph(DType::f64), other(DType::f64);
  graph.output("y", graph.parameter("weights", {2}) * 2.0);
  other.parameter("weights", {3});
  State state(other, 1);
  ThreadPool pool(1);
  const int trials[] = {0};
  EXPECT_EQ(test::error_of<ShapeError>([&] { Program(graph).run(state, trials, 0, 1, {}, pool); }),
            "program: parameter 'weights' is f64[2] in the graph and f64[3] in the state");
}

TEST(State, IsTrialMajorAndAligned) {
  Graph graph(DType::f32);
  graph.parameter("a", {3});
  graph.parameter("b", {17});
  State state(graph, 2);
  EXPECT_EQ(state.bytes_per_trial(), 64u + 128u);
  EXPECT_EQ(state.data(1) - state.data(0), 192);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(state.data(0)) % 64, 0u);
}

}  // namespace
}  // namespace jari
