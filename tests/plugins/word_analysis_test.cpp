// Analyses of word tables, on a table of a few words that a person can reckon with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "framework/base/error.hpp"
#include "tests/plugins/analysis_context.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using test::array;
using test::bound;
using test::number;
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

TEST_F(WordAnalysis, AWordIsFoundAsAPieceWithAMarkWhereItIsNoneAsWritten) {
  words_ = {"\u2581man", "man", "\u2581king", " queen", "sea"};
  const AnalysisResult result = run("{type: neighbors, words: [man, king, queen, \u2581man, an], count: 1}");
  EXPECT_THAT(array(result, "word").texts, ElementsAre("man", "\u2581king", " queen", "\u2581man"));
  EXPECT_THAT(array(result, "unknown").texts, ElementsAre("an"));
  EXPECT_THAT(array(run("{type: analogy, questions: [[man, king, queen]]}"), "question").texts,
              ElementsAre("king - man + queen"));
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

TEST_F(WordAnalysis, AxesGoWithWhereAWordBegins) {
  words_ = {"\u2581man", "\u2581woman", "king", "queen", "sea"};
  values_[8] = values_[11] = 2;  // the third number, the only one of the pieces without a mark, varies most
  const AnalysisResult result = run("{type: projection, words: 4, components: 1}");
  EXPECT_NEAR(number(result, "axis_1/word_start"), -1, 1e-12);
}

TEST_F(WordAnalysis, AProjectionTakesTheMostFrequentWordsWhereTheyAre) {
  const AnalysisResult result = run("{type: projection, words: 3, order: frequency}");
  EXPECT_THAT(array(result, "word").texts, ElementsAre("man", "woman", "sea"));
  context_.counts = {};
  EXPECT_EQ(run("{type: projection, order: frequency}").skipped,
            "the table does not tell how often its words occur; leave out order: frequency");
}

// Rows in the plane of the first two numbers, but one far above it: the map is that plane.
TEST_F(WordAnalysis, AMapTellsHowManyLieNearerThanTheTrueNeighbor) {
  words_ = {"a", "\u2581b", "c", "d", "e"};
  values_ = {3, 0, 0, /*b*/ -3, 0.2, 0, /*c*/ 0, 2, 0, /*d*/ 0, -2, 0, /*e*/ 9, 0.1, 0};
  const AnalysisResult result = run("{type: projection, words: 4, nearer: [a, b, nothing]}");
  // The map's axes are the first two numbers, so that distances on it are those of the table.
  EXPECT_NEAR(number(result, "variance_ratio"), 1, 1e-12);
  EXPECT_THAT(array(result, "nearer_word").texts, ElementsAre("a", "\u2581b"));
  EXPECT_THAT(array(result, "nearer_neighbor").texts, ElementsAre("e", "c"));
  EXPECT_THAT(array(result, "nearer_count").values, ElementsAre(2, 0))
      << "c and d lie within 3.6 of a, b at 6, and e, which is not of the map, at 6";
  EXPECT_EQ(number(result, "nearer/a"), 2);
  EXPECT_EQ(number(result, "nearer/b"), 0);
  EXPECT_THAT(array(result, "unknown").texts, ElementsAre("nothing"));
}

TEST_F(WordAnalysis, OnAMapOfOneAxisAndForAWordThatIsNotOnItTooNeighborsAreCounted) {
  values_ = {0, 0, 0, 4, 0, 0, 6, 0, 0, 1, 1, 1, 5, 0, 0};
  const AnalysisResult result = run("{type: projection, words: 3, components: 1, nearer: [sea, queen]}");
  EXPECT_THAT(array(result, "nearer_neighbor").texts, ElementsAre("woman", "woman"));
  EXPECT_EQ(number(result, "nearer/sea"), 0) << "woman and king lie equally far, at 4 and 6 from 5";
  EXPECT_EQ(number(result, "nearer/queen"), 1) << "man at 0 from 1; woman at 4";
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
  EXPECT_THAT(test::error_of<SpecError>([&] { run("{type: projection, nearer: [a, b, a]}"); }),
              HasSubstr("the word 'a' is there twice"));
  EXPECT_THAT(test::error_of<SpecError>([&] { run("{type: projection, nearer: [km/h]}"); }),
              HasSubstr("'km/h' can not name a number of a run file"));
}

}  // namespace
}  // namespace jari
