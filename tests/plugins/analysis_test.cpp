#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/plugins/analysis_context.hpp"

namespace jari {
namespace {

using test::array;
using test::Bound;
using test::bound;
using test::context_of;
using test::number;

double sum_of_cosines(double gap, int width) {
  double sum = 0;
  for (int m = 0; m < width / 2; ++m) sum += std::cos(gap * std::pow(10000, -2.0 * m / width));
  return sum;
}

TEST(PositionProperty, SinusoidsKnowOnlyTheGap) {
  const AnalysisResult result = bound<Analysis>("position_property")->run(context_of(nullptr));
  const std::map<int, double> source = {{1, 62.094}, {3, 52.186}, {10, 42.820}, {30, 36.244}};
  for (const auto& [gap, mean] : source) {
    const std::string name = "gap_" + std::to_string(gap);
    EXPECT_NEAR(number(result, name + "/mean"), mean, 5e-4);
    EXPECT_NEAR(number(result, name + "/mean"), sum_of_cosines(gap, 128), 1e-11);
    EXPECT_LT(number(result, name + "/sd"), 1e-12);
    EXPECT_LT(number(result, name + "/spread"), 1e-12);
  }
}

TEST(PositionProperty, GivesTheWholeMatrixOfDotProducts) {
  const AnalysisResult result =
      bound<Analysis>("{type: position_property, length: 40, width: 16, gaps: [1]}")->run(context_of(nullptr));
  const AnalysisArray& products = array(result, "dot_products");
  EXPECT_EQ(products.shape, (Shape{40, 40}));
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 40; ++j)
      EXPECT_NEAR(products.values[static_cast<std::size_t>(40 * i + j)], sum_of_cosines(i - j, 16), 1e-12);
}

TEST(PositionProperty, LearnedVectorsDoNot) {
  const AnalysisResult result =
      bound<Analysis>("{type: position_property, scheme: {type: learned, max_length: 64}}")->run(context_of(nullptr));
  EXPECT_GT(number(result, "gap_1/sd"), 1e-4);
  EXPECT_GT(number(result, "gap_1/spread"), number(result, "gap_1/sd"));
}

TEST(PositionProperty, IsSkippedWhereNothingIsAdded) {
  const AnalysisResult result = bound<Analysis>("{type: position_property, scheme: rope}")->run(context_of(nullptr));
  EXPECT_EQ(result.skipped, "position/rope adds nothing to embeddings");
}

TEST(PositionCosine, IsOneOnTheDiagonalAndFollowsTheDotProducts) {
  const auto model = bound<Model>("{type: probe, width: 16, position: sin}");
  const AnalysisResult result = bound<Analysis>("position_cosine")->run(context_of(&*model));
  const AnalysisArray& cosine = array(result, "cosine");
  EXPECT_EQ(cosine.shape, (Shape{5, 5}));
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      EXPECT_NEAR(cosine.values[static_cast<std::size_t>(5 * i + j)], sum_of_cosines(i - j, 16) / 8, 1e-14);
  EXPECT_NEAR(array(result, "norm").values[3], std::sqrt(8), 1e-14);
  EXPECT_NEAR(array(result, "cosine_by_gap").values[2], sum_of_cosines(2, 16) / 8, 1e-14);
}

// Rows of the model's table of positions, as it starts.
std::vector<double> rows_of_positions(const Bound<Model>& model, std::int64_t length) {
  return context_of(&*model)
      .evaluate(length, [&](const BuildContext& build) { return model->position_table(build, length); })
      ->values;
}

TEST(PositionCosine, TellsHowFarTheFirstPositionStandsOut) {
  const auto model =
      bound<Model>("{type: probe, width: 8, position: {type: learned, max_length: 8, init: {type: normal, std: 0.5}}}");
  const AnalysisResult result = bound<Analysis>("{type: position_cosine, length: 8}")->run(context_of(&*model));
  const std::vector<double> rows = rows_of_positions(model, 8);
  const auto product = [&](std::size_t i, std::size_t k) {
    return std::inner_product(rows.begin() + static_cast<std::ptrdiff_t>(8 * i),
                              rows.begin() + static_cast<std::ptrdiff_t>(8 * i + 8),
                              rows.begin() + static_cast<std::ptrdiff_t>(8 * k), 0.0);
  };
  std::vector<double> norms;
  for (std::size_t i = 0; i < 8; ++i) norms.push_back(std::sqrt(product(i, i)));
  const double first = norms.front();
  std::sort(norms.begin(), norms.end());
  EXPECT_NEAR(number(result, "norm_first"), first, 1e-14);
  EXPECT_NEAR(number(result, "norm_median"), (norms[3] + norms[4]) / 2, 1e-14);
  EXPECT_NEAR(number(result, "norm_ratio"), 2 * first / (norms[3] + norms[4]), 1e-13);
  double near = 0, far = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t k = i + 1; k < 8; ++k) {
      const double cosine = product(i, k) / std::sqrt(product(i, i) * product(k, k));
      if (k - i == 1) near += cosine / 7;
      if (k - i >= 6) far += cosine / 3;  // three quarters of 7 are 5.25
    }
  }
  EXPECT_NEAR(number(result, "cosine_near"), near, 1e-14);
  EXPECT_NEAR(number(result, "cosine_far"), far, 1e-14);
}

TEST(PositionCosine, OfOnePositionHasNoNeighborsAndOfZerosNoRatio) {
  const auto model = bound<Model>("{type: probe, width: 8, position: {type: learned, max_length: 8, init: zeros}}");
  const AnalysisResult result = bound<Analysis>("{type: position_cosine, length: 1}")->run(context_of(&*model));
  EXPECT_EQ(result.numbers, (std::vector<std::pair<std::string, double>>{{"norm_first", 0}, {"norm_median", 0}}));
}

TEST(PositionCosine, IsSkippedWithAReason) {
  const auto model = bound<Model>("{type: probe, width: 16, position: rope}");
  EXPECT_EQ(bound<Analysis>("position_cosine")->run(context_of(&*model)).skipped,
            "the model's positional scheme adds nothing to embeddings");
  EXPECT_EQ(bound<Analysis>("position_cosine")->run(context_of(nullptr)).skipped, "the spec has no model");
}

// -- position_bias, against the formulas of the papers

AnalysisResult bias_of(const std::string& model) {
  const auto bound_model = bound<Model>(model);
  return bound<Analysis>("position_bias")->run(context_of(&*bound_model, DType::f64, {bound_model.resolved}));
}

TEST(PositionBias, OfAlibiFallsWithTheDistance) {
  const AnalysisResult result =
      bias_of("{type: probe, width: 16, position: {type: alibi, slopes: [0.5], left_scale: 2}}");
  EXPECT_EQ(array(result, "bias").shape, (Shape{1, 5, 5}));
  const AnalysisArray &offset = array(result, "offset"), &bias = array(result, "bias_by_offset");
  EXPECT_EQ(bias.shape, (Shape{1, 9}));
  for (std::size_t i = 0; i < 9; ++i) {
    const double distance = static_cast<double>(i) - 4;
    EXPECT_EQ(offset.values[i], distance);
    EXPECT_EQ(bias.values[i], distance < 0 ? distance : -distance / 2);
  }
  EXPECT_EQ(array(result, "bias").values[5 * 3 + 1], -2) << "query 3, key 1";
  EXPECT_EQ(number(result, "spread"), 0);
}

TEST(PositionBias, HasARowForEachHead) {
  const AnalysisResult result = bias_of("{type: probe, width: 16, heads: 2, causal: true, position: alibi}");
  const AnalysisArray& bias = array(result, "bias_by_offset");
  EXPECT_EQ(bias.shape, (Shape{2, 9}));
  EXPECT_EQ(bias.values[3], -1.0 / 16) << "head 0, the key before the query: 2^-4";
  EXPECT_EQ(bias.values[9 + 3], -1.0 / 256) << "head 1: 2^-8";
}

TEST(PositionBias, OfRelIsItsTableAndMinusInfinityOutOfSight) {
  const std::string rel = "{type: rel, max_length: 3, unseen: mask, init: {type: constant, value: 2}}";
  const AnalysisResult result = bias_of("{type: probe, width: 16, position: " + rel + "}");
  const AnalysisArray& bias = array(result, "bias_by_offset");
  const double hidden = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(bias.values, (std::vector<double>{hidden, hidden, 2, 2, 2, 2, 2, hidden, hidden}));
  EXPECT_EQ(number(result, "spread"), 0);
}

TEST(PositionBias, IsSkippedWithAReason) {
  EXPECT_EQ(bias_of("{type: probe, width: 16, position: rope}").skipped,
            "the model's positional scheme adds nothing to scores");
  EXPECT_EQ(bound<Analysis>("position_bias")->run(context_of(nullptr)).skipped, "the spec has no model");
}

}  // namespace
}  // namespace jari
