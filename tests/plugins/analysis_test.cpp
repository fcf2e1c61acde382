#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/plugins/components.hpp"

namespace jari {
namespace {

using test::bound;

// As the trainer makes it: parameters have the values that they start with, per-trial numbers those of the resolved
// spec.
AnalysisContext context_of(const Model* model, DType real = DType::f64, std::vector<SpecNode> resolved = {}) {
  AnalysisContext context;
  context.model = model;
  context.trained_length = 5;
  context.evaluate = [real, resolved = std::move(resolved)](std::int64_t length,
                                                            const auto& build) -> std::optional<AnalysisArray> {
    Graph graph(real);
    Declarations declarations;
    Value value;
    {
      const Graph::Scope scope(graph, "model");
      value = build({graph, declarations, 5, length, 5});
    }
    if (!value) return std::nullopt;
    State state(graph, 1);
    for (const ParameterDeclaration& declaration : declarations.all()) {
      std::vector<double> values(static_cast<std::size_t>(declaration.shape.size()));
      declaration.init->fill({1, declaration.path, declaration.shape, nullptr}, values);
      state.write(0, *state.find(declaration.path), values);
    }
    return AnalysisArray{
        "", value.shape(), evaluate(graph, value, test::per_trial_values(graph, resolved), &state), {}};
  };
  return context;
}

double number(const AnalysisResult& result, const std::string& name) {
  for (const auto& [key, value] : result.numbers)
    if (key == name) return value;
  ADD_FAILURE() << "no number " << name;
  return 0;
}

const AnalysisArray& array(const AnalysisResult& result, const std::string& name) {
  for (const AnalysisArray& each : result.arrays)
    if (each.name == name) return each;
  throw std::out_of_range(name);
}

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
