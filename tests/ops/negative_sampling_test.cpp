#include "framework/ops/negative_sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "framework/ops/ops.hpp"
#include "framework/program/program.hpp"

namespace jari {
namespace {

// The table's gradient has room for `most_rows` ids; the batch names three.
double squares_of_three_ids(std::int64_t most_rows) {
  Graph graph(DType::f64);
  const Value hidden = graph.constant({2, 3}, {1, 2, 3, 4, 5, 6}), table = graph.parameter("table", {20, 3});
  const Value targets = graph.constant_i32({2, 1}, {7, 8}), negatives = graph.constant_i32({1}, {9});
  const Value slopes = graph.constant({2, 1}, {1, 1});
  const std::vector<Value> results = graph.apply(
      op_negative_sampling_gradient, {hidden, table, targets, negatives, slopes, slopes, graph.constant(1.0)},
      NegativeSamplingAttributes{.most_rows = most_rows});
  return evaluate(graph, results[3])[0];
}

TEST(NegativeSampling, ShowsThatMoreIdsAreDistinctThanItWasTold) {
  EXPECT_EQ(squares_of_three_ids(0), 14 + 77 + (25 + 49 + 81));
  EXPECT_EQ(squares_of_three_ids(3), 14 + 77 + (25 + 49 + 81));
  EXPECT_TRUE(std::isnan(squares_of_three_ids(2)));
}

}  // namespace
}  // namespace jari
