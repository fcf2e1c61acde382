// Analyses of word tables, on a table of a few words that a person can reckon with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "framework/base/error.hpp"
#include "tests/plugins/components.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using test::bound;
using testing::ElementsAre;
using testing::HasSubstr;

// man, woman, king, queen on a square, and a word far from them.
class WordAnalysis : public testing::Test {
 protected:
  WordAnalysis() {
    context_.words = words_;
    context_.counts = counts_;
    context_.weights = [this](const std::string& path) -> std::optional<AnalysisArray> {
      if (path != "model/embedding") return std::nullopt;
      return AnalysisArray{path, {5, 3}, values_, {"token", "width"}};
    };
  }
  AnalysisResult run(const std::string& block) const { return bound<Analysis>(block)->run(context_); }

  static const AnalysisArray& array(const AnalysisResult& result, const std::string& name) {
    for (const AnalysisArray& each : result.arrays)
      if (each.name == name) return each;
    throw std::out_of_range(name);
  }
  static double number(const AnalysisResult& result, const std::string& name) {
    for (const auto& [key, value] : result.numbers)
      if (key == name) return value;
    throw std::out_of_range(name);
  }

  std::vector<std::string> words_ = {"man", "woman", "king", "queen", "sea"};
  std::vector<std::int64_t> counts_ = {500, 400, 60, 50, 300};
  std::vector<double> values_ = {1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, -1, 0, 0.5};
  AnalysisContext context_;
};

TEST_F(WordAnalysis, NeighborsAreWordsWithTheirCosines) {
  const AnalysisResult result = run("{type: neighbors, words: [queen, nothing, man], count: 2}");
  EXPECT_THAT(array(result, "word").texts, ElementsAre("queen", "man"));
  EXPECT_THAT(array(result, "neighbor").texts, ElementsAre("woman", "king", "woman", "king"));
  EXPECT_EQ(array(result, "neighbor").shape, (Shape{2, 2}));
  EXPECT_NEAR(array(result, "cosine").values[0], 2 / std::sqrt(6), 1e-6);
  EXPECT_NEAR(array(result, "cosine").values[3], 1 / std::sqrt(2), 1e-6);
  EXPECT_THAT(array(result, "unknown").texts, ElementsAre("nothing"));
}

TEST_F(WordAnalysis, NeighborsByDotProductGrowWithTheLength) {
  const AnalysisResult result = run("{type: neighbors, words: [man], count: 1, by: dot}");
  EXPECT_THAT(array(result, "neighbor").texts, ElementsAre("woman"));
  EXPECT_THAT(array(result, "dot").values, ElementsAre(1));
}

TEST_F(WordAnalysis, AnAnalogyHasAnswersAndTheRankOfTheWordExpected) {
  const AnalysisResult result =
      run("{type: analogy, questions: [[man, king, woman, queen], [man, king, duke]], count: 2}");
  EXPECT_THAT(array(result, "question").texts, ElementsAre("king - man + woman"));
  EXPECT_THAT(array(result, "answer").texts, ElementsAre("queen", "sea"));
  EXPECT_EQ(number(result, "queen/rank"), 1);
  EXPECT_THAT(array(result, "unknown").texts, ElementsAre("king - man + duke"));
}

TEST_F(WordAnalysis, DirectionsAreComparedWithEachOtherAndWithChance) {
  const AnalysisResult result =
      run("{type: direction, pairs: [[man, woman], [king, queen], [man, king]], chance: 100}");
  EXPECT_THAT(array(result, "pair").texts, ElementsAre("woman - man", "queen - king", "king - man"));
  EXPECT_THAT(array(result, "cosine").values, ElementsAre(1, 1, 0, 1, 1, 0, 0, 0, 1));
  EXPECT_NEAR(number(result, "mean"), 1.0 / 3, 1e-12);
  EXPECT_GT(number(result, "chance/high"), 0);
}

TEST_F(WordAnalysis, AProjectionTellsItsVarianceAndWhatItsAxesMean) {
  const AnalysisResult result = run("{type: projection, words: 5, components: 3}");
  EXPECT_NEAR(number(result, "variance_ratio"), 1, 1e-12);
  EXPECT_EQ(array(result, "coordinates").shape, (Shape{5, 3}));
  EXPECT_THAT(array(result, "word").texts, ElementsAre("man", "woman", "king", "queen", "sea"));
  EXPECT_LE(std::abs(number(result, "axis_1/log_frequency")), 1);
  EXPECT_EQ(test::error_of<std::out_of_range>([&] { number(result, "axis_1/word_start"); }), "axis_1/word_start")
      << "no token begins a word, so there is nothing to correlate with";
}

TEST_F(WordAnalysis, RetrievalRanksTheDocumentsOfEachQuestion) {
  const AnalysisResult result =
      run("{type: retrieval, documents: {Court: \"A king, a queen.\", Ship: the sea}, queries: [sea!, woman]}");
  EXPECT_THAT(array(result, "document").texts, ElementsAre("Ship", "Court", "Court", "Ship"));
  EXPECT_NEAR(array(result, "cosine").values[0], 1, 1e-12);
  EXPECT_THAT(array(result, "known").values, ElementsAre(2, 1));
}

TEST_F(WordAnalysis, AreSkippedWithAReason) {
  EXPECT_EQ(run("{type: neighbors, words: [man], tensor: output}").skipped, "the model has no weight 'output'");
  EXPECT_EQ(run("{type: neighbors, words: [duke]}").skipped, "none of the words is in the vocabulary");
  EXPECT_EQ(run("{type: analogy, questions: [[a, b, c]]}").skipped,
            "every question has a word that is not in the vocabulary");
  EXPECT_EQ(run("{type: direction, pairs: [[man, king], [a, b]]}").skipped,
            "fewer than two pairs are in the vocabulary");
  values_[4] = std::nan("");
  EXPECT_EQ(run("{type: projection}").skipped, "the weight 'embedding' holds numbers that are not finite");
  context_.words = {};
  for (const char* block :
       {"{type: neighbors, words: [man]}", "{type: analogy, questions: [[a, b, c]]}", "projection",
        "{type: direction, pairs: [[a, b], [c, d]]}", "{type: retrieval, documents: {a: b}, queries: [c]}"})
    EXPECT_EQ(run(block).skipped, "the model has no words: its task makes tokens of its own") << block;
}

TEST_F(WordAnalysis, WhatCanNotBeAskedIsAnError) {
  EXPECT_THAT(test::error_of<SpecError>([&] { run("{type: analogy, questions: [[a, b]]}"); }),
              HasSubstr("question 0 has 2 words"));
  EXPECT_THAT(test::error_of<SpecError>([&] { run("{type: direction, pairs: [[a, b], [c]]}"); }),
              HasSubstr("entry 1 has 1 words"));
  EXPECT_THAT(test::error_of<SpecError>([&] { run("{type: neighbors, words: []}"); }),
              HasSubstr("there is nothing to look around"));
}

}  // namespace
}  // namespace jari
