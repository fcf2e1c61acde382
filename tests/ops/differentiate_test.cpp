#include "framework/ops/differentiate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "framework/ops/ops.hpp"
#include "framework/program/program.hpp"

namespace jari {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

std::vector<double> evaluate_at(Graph& graph, Value value, const std::vector<std::vector<double>>& parameters) {
  State state(graph, 1);
  for (std::size_t i = 0; i < parameters.size(); ++i) state.write(0, state.entries()[i], parameters[i]);
  return evaluate(graph, value, {}, &state);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Differentiate, SumsTheUsesOfASharedSubexpression) {
  Graph graph(DType::f64);
  const Value x = graph.parameter("x", {2});
  const Value shared = exp(x);
  const Value loss = sum_all(shared * shared + shared);
  const std::vector<double> found = evaluate_at(graph, differentiate(graph, loss, {x})[0], {{0.5, -1}});
  const auto slope = [](double at) { return 2 * std::exp(2 * at) + std::exp(at); };
  EXPECT_THAT(found, Pointwise(DoubleNear(1e-12), {slope(0.5), slope(-1)}));
}

TEST(Differentiate, GivesZerosToAParameterWithoutInfluence) {
  Graph graph(DType::f64);
  const Value x = graph.parameter("x", {2}), unused = graph.parameter("unused", {3});
  const Value only_compared = graph.parameter("only_compared", {2});
  const Value loss = sum_all(select(less(x, only_compared), x, -x));
  const std::vector<Value> found = differentiate(graph, loss, {unused, x, only_compared});
  const std::vector<std::vector<double>> at = {{1, 2}, {7, 7, 7}, {3, 0}};
  EXPECT_THAT(evaluate_at(graph, found[0], at), ElementsAre(0, 0, 0));
  EXPECT_THAT(evaluate_at(graph, found[1], at), ElementsAre(1, -1));
  EXPECT_THAT(evaluate_at(graph, found[2], at), ElementsAre(0, 0));
}

TEST(Differentiate, GivesTheLossItselfAGradientOfOne) {
  Graph graph(DType::f64);
  const Value x = graph.parameter("x", {});
  EXPECT_THAT(evaluate_at(graph, differentiate(graph, x, {x})[0], {{3}}), ElementsAre(1));
}

TEST(Differentiate, MakesNoNodesForWhatIsNotWanted) {
  Graph graph;
  const Value x = graph.parameter("x", {2}), y = graph.parameter("y", {2});
  const Value loss = sum_all(x * exp(y));
  const int before = graph.size();
  differentiate(graph, loss, {x});
  for (int i = before; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    EXPECT_FALSE(node.op == &op_exp || (node.op == &op_multiply && node.inputs[1] == x)) << graph.to_string();
  }
}

TEST(Differentiate, PutsItsNodesUnderGradientWithTheSpanOfTheNodeTheyComeFrom) {
  Graph graph;
  const Value x = graph.parameter("x", {2});
  Value loss;
  {
    SourceSpan span;
    span.file = std::make_shared<SourceFile>();
    span.line = 9;
    const Graph::Scope scope(graph, "model/block0", span);
    loss = sum_all(gelu(x));
  }
  const Value gradient = differentiate(graph, loss, {x})[0];
  EXPECT_EQ(graph.node(gradient.node()).path, "gradient/model/block0");
  EXPECT_EQ(graph.node(gradient.node()).span.line, 9);
  EXPECT_EQ(graph.path(), "");
}

TEST(Differentiate, CanBeAppliedTwiceAlsoThroughTheBodyOfACompositeOp) {
  Graph graph(DType::f64);
  const Value x = graph.parameter("x", {2});
  const Value first = differentiate(graph, sum_all(gelu(x)), {x})[0];
  const Value second = differentiate(graph, sum_all(first), {x})[0];
  const double step = 1e-5;
  const std::vector<double> above = evaluate_at(graph, first, {{0.3 + step, -1 + step}});
  const std::vector<double> below = evaluate_at(graph, first, {{0.3 - step, -1 - step}});
  EXPECT_THAT(evaluate_at(graph, second, {{0.3, -1}}),
              Pointwise(DoubleNear(1e-8), {(above[0] - below[0]) / (2 * step), (above[1] - below[1]) / (2 * step)}));
}

// A composite op without a gradient rule; its body uses the first operand twice, and gives the second on as it is.
const Op kSquareAndPass = {.name = "square_and_pass",
                           .infer = [](const std::vector<TensorType>& inputs, const Attributes&) { return inputs; },
                           .body =
                               [](Graph&, const std::vector<Value>& x, const Attributes&) {
                                 return std::vector<Value>{x[0] * x[0], x[1]};
                               }};

TEST(Differentiate, GoesThroughABodyWithoutLeavingItTwice) {
  Graph graph(DType::f64);
  const Value x = graph.parameter("x", {});
  const Value y = x * 3;
  // The operands depend on each other outside of the body: that path belongs to the outer pass.
  const std::vector<Value> out = graph.apply(kSquareAndPass, {y, x});
  const std::vector<Value> same = graph.apply(kSquareAndPass, {x, x});
  const Value loss = out[0] + out[1] * 5 + same[0] + same[1];
  const Value gradient = differentiate(graph, loss, {x})[0];
  // The kernels of a test's own op are not there, and the gradient does not need them: 18 x + 5 + 2 x + 1.
  EXPECT_THAT(evaluate_at(graph, gradient, {{2}}), ElementsAre(18 * 2 + 5 + 2 * 2 + 1));
}

TEST(Differentiate, RefusesALossThatIsNotARealScalar) {
  Graph graph;
  const Value x = graph.parameter("x", {2});
  EXPECT_EQ(message_of([&] { differentiate(graph, x, {x}); }),
            "differentiate: the loss must be a real scalar, it is f32[2]: take sum_all or mean_all of it");
}

const Op kOpaque = {.name = "opaque",
                    .infer = [](const std::vector<TensorType>& inputs, const Attributes&) { return inputs; }};

TEST(Differentiate, NamesTheOpThatHasNoGradientRule) {
  Graph graph;
  const Value x = graph.parameter("x", {});
  const Graph::Scope scope(graph, "model");
  const Value loss = graph.apply_one(kOpaque, {x});
  EXPECT_EQ(message_of([&] { differentiate(graph, loss, {x}); }),
            "opaque: has no gradient rule, but the loss depends on a parameter through it\n  at model");
}

TEST(Gradient, OfEqualOperandsOfMaximumAndMinimumGoesToTheLeftOne) {
  Graph graph(DType::f64);
  const Value x = graph.parameter("x", {2}), y = graph.parameter("y", {2});
  for (const Value& loss : {sum_all(maximum(x, y)), sum_all(minimum(x, y))}) {
    const std::vector<Value> found = differentiate(graph, loss, {x, y});
    EXPECT_THAT(evaluate_at(graph, found[0], {{1, 2}, {1, 2}}), ElementsAre(1, 1));
    EXPECT_THAT(evaluate_at(graph, found[1], {{1, 2}, {1, 2}}), ElementsAre(0, 0));
  }
}

TEST(Gradient, OfReluAndAbsIsZeroAtZero) {
  Graph graph(DType::f64);
  const Value x = graph.parameter("x", {3});
  const Value relu_slope = differentiate(graph, sum_all(relu(x)), {x})[0];
  const Value abs_slope = differentiate(graph, sum_all(abs(x)), {x})[0];
  EXPECT_THAT(evaluate_at(graph, relu_slope, {{-1, 0, 1}}), ElementsAre(0, 0, 1));
  EXPECT_THAT(evaluate_at(graph, abs_slope, {{-1, 0, 1}}), ElementsAre(-1, 0, 1));
}

TEST(Gradient, OfReduceMaxGoesToTheFirstOfEqualMaxima) {
  Graph graph(DType::f64);
  const Value x = graph.parameter("x", {2, 3});
  const Value rows = differentiate(graph, sum_all(reduce_max(x, {1})), {x})[0];
  const Value columns = differentiate(graph, sum_all(reduce_max(x, {0})), {x})[0];
  EXPECT_THAT(evaluate_at(graph, rows, {{1, 5, 5, 2, 2, 0}}), ElementsAre(0, 1, 0, 1, 0, 0));
  EXPECT_THAT(evaluate_at(graph, columns, {{1, 5, 5, 1, 2, 0}}), ElementsAre(1, 1, 1, 0, 0, 0));
}

TEST(Building, GivesBackTheOperandWhereNothingChanges) {
  Graph graph;
  const Value x = graph.parameter("x", {2, 3});
  const int before = graph.size();
  EXPECT_EQ(reshape(x, {2, 3}), x);
  EXPECT_EQ(broadcast_to(x, {2, 3}), x);
  EXPECT_EQ(permute(x, {0, 1}), x);
  EXPECT_EQ(slice(x, 0, 0, 2), x);
  EXPECT_EQ(pad(x, 1, 0, 0), x);
  EXPECT_EQ(concat({x}, 0), x);
  EXPECT_EQ(cast(x, DType::f32), x);
  EXPECT_EQ(reduce_sum(x, {}), x);
  EXPECT_EQ(graph.size(), before);
}

}  // namespace
}  // namespace jari
