// Products that are taken earlier than they were written give the same values and gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"
#include "framework/program/program.hpp"

namespace jari {
namespace {

constexpr std::int64_t kRows = 5, kBatch = 4, kLength = 6, kWidth = 8, kOut = 3;

struct Outcome {
  std::vector<double> loss, table, positions, matrix;
  int products = 0;  // rows that matrix products touch
};

using Build = Value (*)(Graph&, Value x, Value matrix);

std::int64_t product_rows(const Graph& graph) {
  std::int64_t rows = 0;
  for (int i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    if (node.op == &op_matmul) rows += node.inputs[0].shape().size() / node.inputs[0].shape()[-1];
  }
  return rows;
}

// Parameters of which no two are alike.
State filled_state(const Graph& graph) {
  State state(graph, 1);
  for (const State::Entry& entry : state.entries()) {
    std::vector<double> values(static_cast<std::size_t>(entry.type.shape.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(static_cast<double>(i * 7 + entry.name.size()));
    state.write(0, entry, values);
  }
  return state;
}

// x = table[ids] + positions, [batch, length, width].
Outcome run(bool rewrites, Build build) {
  Graph graph(DType::f64);
  graph.set_rewrites(rewrites);
  const Value table = graph.parameter("table", {kRows, kWidth});
  const Value positions = graph.parameter("positions", {kLength, kWidth});
  const Value matrix = graph.parameter("matrix", {kWidth, kOut});
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < kBatch * kLength; ++i) ids.push_back(i * i % kRows);
  const Value x = gather(table, graph.constant_i32({kBatch, kLength}, ids)) + positions;
  const Value y = build(graph, x, matrix);
  Outcome outcome;
  outcome.products = static_cast<int>(product_rows(graph));
  const Value loss = sum_all(square(y) * 0.5 + y);
  const std::vector<Value> gradients = differentiate(graph, loss, {table, positions, matrix});
  State state = filled_state(graph);
  outcome.loss = evaluate(graph, loss, {}, &state);
  outcome.table = evaluate(graph, gradients[0], {}, &state);
  outcome.positions = evaluate(graph, gradients[1], {}, &state);
  outcome.matrix = evaluate(graph, gradients[2], {}, &state);
  return outcome;
}

void expect_near(const std::vector<double>& left, const std::vector<double>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i)
    EXPECT_NEAR(left[i], right[i], 1e-11 * (1 + std::abs(right[i]))) << "at " << i;
}

void expect_same_result_for_less(Build build) {
  const Outcome written = run(false, build), rewritten = run(true, build);
  EXPECT_LT(rewritten.products, written.products);
  expect_near(rewritten.loss, written.loss);
  expect_near(rewritten.table, written.table);
  expect_near(rewritten.positions, written.positions);
  expect_near(rewritten.matrix, written.matrix);
}

TEST(Rewrite, PushesAProductThroughGatherAndBroadcastSum) {
  expect_same_result_for_less([](Graph&, Value x, Value matrix) { return matmul(x, matrix); });
}

TEST(Rewrite, PushesAProductThroughAReshape) {
  expect_same_result_for_less([](Graph&, Value x, Value matrix) {
    return matmul(reshape(x, {kBatch * kLength, kWidth}), matrix);
  });
}

TEST(Rewrite, ServesATransposedMatrix) {
  expect_same_result_for_less([](Graph&, Value x, Value matrix) { return matmul(x, transpose(matrix), false, true); });
}

TEST(Rewrite, PushesAProductThroughSingleHeadAttention) {
  expect_same_result_for_less([](Graph&, Value x, Value matrix) {
    const Value head = reshape(x, {kBatch, 1, kLength, kWidth});
    const Value attended = attention(head, head, head, std::nullopt, {.scale = 0.3});
    return matmul(reshape(attended, {kBatch, kLength, kWidth}), matrix);
  });
}

TEST(Rewrite, AttentionReadsHeadsWhereTheyLie) {
  for (const bool rewrites : {true, false}) {
    Graph graph(DType::f64);
    graph.set_rewrites(rewrites);
    const auto heads = [&](const std::string& name) {
      return permute(graph.parameter(name, {2, 6, 3, 4}), {0, 2, 1, 3});
    };
    const Value seen = attention(heads("q"), heads("k"), heads("v"), std::nullopt, {});
    const Value merged = permute(seen, {0, 2, 1, 3});
    EXPECT_EQ(merged.shape(), (Shape{2, 6, 3, 4}));
    EXPECT_EQ(graph.node(merged.node()).op == &op_attention, rewrites);  // the last exchange undoes the result's
  }
}

TEST(Rewrite, AProductTakesUpWhatIsAddedToIt) {
  std::vector<std::vector<double>> results;
  for (const bool rewrites : {true, false}) {
    Graph graph(DType::f64);
    graph.set_rewrites(rewrites);
    const Value x = graph.parameter("x", {2, 400, 8}), weight = graph.parameter("weight", {8, 100});
    const Value bias = graph.parameter("bias", {100}), more = graph.parameter("more", {2, 400, 100});
    const Value y = more + (matmul(x, weight) + bias);
    EXPECT_EQ(graph.node(y.node()).op == &op_matmul, rewrites);
    const std::vector<Value> gradients = differentiate(graph, mean_all(square(y)), {x, weight, bias, more});
    State state = filled_state(graph);
    results.push_back(evaluate(graph, y, {}, &state));
    for (const Value& value : gradients) results.push_back(evaluate(graph, value, {}, &state));
  }
  for (std::size_t i = 0; i < 5; ++i) expect_near(results[i], results[i + 5]);
}

TEST(Rewrite, TwoLayersWithGeluAreOne) {
  std::vector<std::vector<double>> results;
  for (const bool rewrites : {true, false}) {
    Graph graph(DType::f64);
    graph.set_rewrites(rewrites);
    const Value x = graph.parameter("x", {2, 300, 8}), bias = graph.parameter("bias", {500});
    const Value inner = graph.parameter("inner", {8, 500}), outer = graph.parameter("outer", {500, 6});
    const Value y = matmul(gelu(matmul(x, inner) + bias), outer);
    EXPECT_EQ(graph.node(y.node()).op == &op_gelu_mlp, rewrites);
    const std::vector<Value> gradients = differentiate(graph, mean_all(square(y)), {x, inner, outer, bias});
    State state = filled_state(graph);
    results.push_back(evaluate(graph, y, {}, &state));
    for (const Value& value : gradients) results.push_back(evaluate(graph, value, {}, &state));
  }
  for (std::size_t i = 0; i < 5; ++i) expect_near(results[i], results[i + 5]);
}

TEST(Rewrite, ALossOfLargeLogitsDoesWithoutThem) {
  std::vector<std::vector<double>> results;
  for (const bool rewrites : {true, false}) {
    Graph graph(DType::f64);
    graph.set_rewrites(rewrites);
    const Value x = graph.parameter("x", {2, 300, 8}), weight = graph.parameter("weight", {1900, 8});
    std::vector<std::int64_t> targets;
    for (std::int64_t i = 0; i < 600; ++i) targets.push_back(i % 7 == 0 ? -1 : i * 13 % 1900);
    const Value loss = cross_entropy(matmul(x, weight, false, true), graph.constant_i32({2, 300}, targets));
    EXPECT_EQ(graph.node(loss.node()).op == &op_linear_cross_entropy, rewrites);
    const std::vector<Value> gradients = differentiate(graph, loss * 3, {x, weight});
    State state = filled_state(graph);
    for (const Value& value : {loss, gradients[0], gradients[1]}) results.push_back(evaluate(graph, value, {}, &state));
  }
  for (std::size_t i = 0; i < 3; ++i) expect_near(results[i], results[i + 3]);
}

TEST(Rewrite, LeavesAPlainProductAlone) {
  Graph graph(DType::f64);
  const Value x = graph.input("x", {DType::f64, {4, 8}}, false), matrix = graph.parameter("matrix", {8, 3});
  matmul(x, matrix);
  EXPECT_EQ(graph.size(), 3);
}

TEST(Rewrite, LeavesAGatherFromALargeTableAlone) {
  Graph graph(DType::f64);
  const Value table = graph.parameter("table", {1000, 8}), matrix = graph.parameter("matrix", {8, 3});
  const Value rows = gather(table, graph.constant_i32({4}, {1, 2, 3, 4}));
  const Value product = matmul(rows, matrix);
  EXPECT_EQ(graph.node(product.node()).op, &op_matmul);
}

}  // namespace
}  // namespace jari
