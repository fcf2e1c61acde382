#include "framework/ops/cost.hpp"

#include <gtest/gtest.h>

#include "framework/ops/ops.hpp"

namespace jari {
namespace {

TEST(Cost, CountsAMultiplicationAndAnAdditionForEachTermOfAProduct) {
  Graph graph;
  const Value left = graph.input("left", {DType::f32, {3, 5, 7}}, true);
  const Value right = graph.parameter("right", {7, 11});
  graph.output("product", matmul(left, right));
  const GraphCost cost = cost_of(graph);
  EXPECT_EQ(cost.product_flops, 2.0 * 3 * 5 * 7 * 11);
  EXPECT_EQ(cost.ops, (std::map<std::string, int>{{"matmul", 1}}));
  EXPECT_EQ(cost.inputs, 1);
  EXPECT_EQ(cost.parameters, 1);
  EXPECT_EQ(cost.parameter_elements, 7 * 11);
  EXPECT_EQ(cost.value_bytes, 3u * 5 * 11 * 4);
}

TEST(Cost, CountsBothProductsOfAttention) {
  Graph graph;
  const Value query = graph.input("query", {DType::f32, {2, 3, 5, 7}}, true);
  const Value key = graph.input("key", {DType::f32, {2, 3, 11, 7}}, true);
  const Value value = graph.input("value", {DType::f32, {2, 3, 11, 13}}, true);
  graph.output("result", attention(query, key, value, std::nullopt, {}));
  EXPECT_EQ(cost_of(graph).product_flops, 2.0 * (2 * 3) * 5 * 11 * (7 + 13));
}

TEST(Cost, LeavesOutWhatNothingNeeds) {
  Graph graph;
  const Value input = graph.input("input", {DType::f32, {4, 4}}, true);
  graph.output("used", input + input);
  matmul(input, graph.parameter("unused", {4, 4}));
  const GraphCost cost = cost_of(graph);
  EXPECT_EQ(cost.product_flops, 0);
  EXPECT_EQ(cost.parameters, 0);
  EXPECT_EQ(cost.ops, (std::map<std::string, int>{{"add", 1}}));
}

}  // namespace
}  // namespace jari
