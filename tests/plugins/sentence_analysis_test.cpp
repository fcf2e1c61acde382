// Analyses of a word in sentences, on a small transformer as it starts; sentences are cut where they have a bar.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "framework/base/error.hpp"
#include "tests/plugins/analysis_context.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using test::array;
using test::bound;
using test::Bound;
using test::number;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t kWidth = 8;

class SentenceAnalysis : public testing::Test {
 protected:
  SentenceAnalysis() { use("{type: gpt, blocks: 2, heads: 2, width: 8, position: {type: learned, max_length: 5}}"); }

  void use(const std::string& model) {
    model_ = bound<Model>(model);
    context_ = test::context_of(&*model_, DType::f64, {model_.resolved}, static_cast<std::int64_t>(words_.size()));
    context_.words = words_;
    context_.ids = [this](const std::string& text) {
      std::vector<std::int32_t> ids;
      std::istringstream pieces(text);
      for (std::string piece; std::getline(pieces, piece, '|');)
        ids.push_back(static_cast<std::int32_t>(std::find(words_.begin(), words_.end(), piece) - words_.begin()));
      return ids;
    };
    context_.weights = [this](const std::string& path) -> std::optional<AnalysisArray> {
      Graph graph(DType::f64);
      Declarations declarations;
      {
        const Graph::Scope scope(graph, "model");
        dynamic_cast<const SequenceModel&>(*model_).logits({graph, declarations, context_.vocabulary, 5, 5},
                                                           graph.constant_i32({1, 5}, {0, 1, 2, 3, 4}));
      }
      const ParameterDeclaration* declaration = declarations.find(path);
      if (declaration == nullptr) return std::nullopt;
      return AnalysisArray{path, declaration->shape, test::first_values(*declaration), declaration->axes};
    };
  }

  AnalysisResult run(const std::string& block) const { return bound<Analysis>(block)->run(context_); }

  std::vector<double> weight_row(const std::string& path, std::size_t row) const {
    const std::vector<double> values = context_.weights(path)->values;
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * kWidth);
    return {begin, begin + kWidth};
  }

  // Rows of a sentence at one place, [tokens, width], straight from the model.
  std::vector<double> rows_at(std::size_t place, const std::string& text) const {
    const std::vector<std::int32_t> ids = context_.ids(text);
    const auto length = static_cast<std::int64_t>(ids.size());
    return context_
        .evaluate(length,
                  [&](const BuildContext& build) {
                    const Value tokens = build.graph.constant_i32({1, length}, {ids.begin(), ids.end()});
                    return dynamic_cast<const SequenceModel&>(*model_).hidden_states(build, tokens)[place].rows;
                  })
        ->values;
  }

  const std::vector<std::string> words_ = {"\u2581", "\u2581배", "배", "를", "가", "\u2581어", "머니", "\u2581탔다"};
  Bound<Model> model_;
  AnalysisContext context_;
};

std::vector<double> row_of(const std::vector<double>& rows, std::size_t index) {
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(index * kWidth);
  return {begin, begin + kWidth};
}

double cosine_of(const std::vector<double>& left, const std::vector<double>& right) {
  double product = 0, lefts = 0, rights = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    product += left[i] * right[i];
    lefts += left[i] * left[i];
    rights += right[i] * right[i];
  }
  return product / std::sqrt(lefts) / std::sqrt(rights);
}

const std::string kSentences =
    "sentences: [\"\u2581배|를|\u2581탔다\", \"\u2581어|머니|\u2581배|가\", \"\u2581배|가\"]";

TEST_F(SentenceAnalysis, TokenRowsAreEqualAndInputRowsAtEqualPositions) {
  const AnalysisResult result = run("{type: input_rows, word: 배, " + kSentences + "}");
  EXPECT_EQ(result.skipped, "");
  EXPECT_THAT(array(result, "sentence").values, ElementsAre(0, 1, 2));
  EXPECT_THAT(array(result, "position").values, ElementsAre(0, 2, 0));
  EXPECT_THAT(array(result, "piece").texts, Each("\u2581배"));
  EXPECT_THAT(array(result, "token_cosine").values, Each(1));
  const std::vector<double> token = weight_row("model/embedding", 1);
  std::vector<std::vector<double>> inputs;
  for (const std::size_t position : {0U, 2U}) {
    inputs.push_back(token);
    const std::vector<double> added = weight_row("model/position/table", position);
    for (std::size_t i = 0; i < kWidth; ++i) inputs.back()[i] += added[i];
  }
  EXPECT_EQ(array(result, "token_row").shape, (Shape{3, 8}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(row_of(array(result, "token_row").values, i), token);
    EXPECT_EQ(row_of(array(result, "input_row").values, i), inputs[i == 1 ? 1 : 0]);
    EXPECT_EQ(row_of(array(result, "position_row").values, i), weight_row("model/position/table", i == 1 ? 2 : 0));
  }
  const double other = cosine_of(inputs[0], inputs[1]);
  const std::vector<double>& cosine = array(result, "input_cosine").values;
  EXPECT_EQ(cosine[2], 1);
  EXPECT_NEAR(cosine[1], other, 1e-14);
  EXPECT_LT(other, 0.99);
  EXPECT_EQ(number(result, "equal_positions/input_cosine"), 1);
  EXPECT_NEAR(number(result, "other_positions/input_cosine"), other, 1e-14);
}

TEST_F(SentenceAnalysis, InputRowsOfWholeSentencesAreKept) {
  const AnalysisResult result = run("{type: input_rows, word: 배, " + kSentences + "}");
  EXPECT_THAT(array(result, "sentence_1/piece").texts, ElementsAre("\u2581어", "머니", "\u2581배", "가"));
  const std::vector<double>& input = array(result, "sentence_1/input_row").values;
  EXPECT_EQ(array(result, "sentence_1/input_row").shape, (Shape{4, 8}));
  EXPECT_EQ(input, rows_at(0, "\u2581어|머니|\u2581배|가"));
  for (std::size_t i = 0; i < input.size(); ++i)
    EXPECT_EQ(input[i],
              array(result, "sentence_1/token_row").values[i] + array(result, "sentence_1/position_row").values[i]);
}

TEST_F(SentenceAnalysis, WhereNothingIsAddedToEmbeddingsInputRowsAreTokenRows) {
  use("{type: gpt, blocks: 1, heads: 2, width: 8, position: rope}");
  const AnalysisResult result = run("{type: input_rows, word: 배, " + kSentences + "}");
  EXPECT_EQ(array(result, "input_row").values, array(result, "token_row").values);
  EXPECT_THAT(array(result, "input_cosine").values, Each(1));
  EXPECT_EQ(test::error_of<std::out_of_range>([&] { array(result, "position_row"); }), "position_row");
}

TEST_F(SentenceAnalysis, AWordAsWrittenWinsOverOneWithAMark) {
  const AnalysisResult result = run("{type: input_rows, word: 배, sentences: [\"\u2581어|배|가\", \"\u2581배|가\"]}");
  EXPECT_THAT(array(result, "piece").texts, ElementsAre("배"));
  EXPECT_THAT(array(result, "position").values, ElementsAre(1));
  EXPECT_THAT(result.numbers, testing::IsEmpty()) << "one occurrence has no pair";
}

TEST_F(SentenceAnalysis, AWordOfSeveralPiecesIsItsLast) {
  const AnalysisResult result =
      run("{type: senses, word: 어머니, sentences: [\"\u2581어|머니|가\", \"\u2581배|\u2581어|머니\"]}");
  EXPECT_THAT(array(result, "piece").texts, Each("머니"));
  EXPECT_THAT(array(result, "position").values, ElementsAre(1, 2));
}

TEST_F(SentenceAnalysis, SensesAreComparedAtEveryPlace) {
  const AnalysisResult result = run("{type: senses, word: 배, labels: [ship, pear, pear], " + kSentences + "}");
  EXPECT_THAT(array(result, "place").texts,
              ElementsAre("embedding", "block0/attention", "block0", "block1/attention", "block1"));
  EXPECT_THAT(array(result, "label").texts, ElementsAre("ship", "pear", "pear"));
  EXPECT_EQ(array(result, "row").shape, (Shape{5, 3, 8}));
  EXPECT_EQ(array(result, "cosine").shape, (Shape{5, 3, 3}));
  for (std::size_t place = 0; place < 5; ++place) {
    const std::vector<double> ship = row_of(rows_at(place, "\u2581배|를|\u2581탔다"), 0),
                              first = row_of(rows_at(place, "\u2581어|머니|\u2581배|가"), 2),
                              second = row_of(rows_at(place, "\u2581배|가"), 0);
    EXPECT_EQ(row_of(array(result, "row").values, 3 * place + 1), first);
    EXPECT_NEAR(array(result, "cosine").values[9 * place + 1], cosine_of(ship, first), 1e-14);
    const std::string name = array(result, "place").texts[place];
    EXPECT_NEAR(number(result, name + "/within"), cosine_of(first, second), 1e-14);
    EXPECT_NEAR(number(result, name + "/between"), (cosine_of(ship, first) + cosine_of(ship, second)) / 2, 1e-14);
  }
}

TEST_F(SentenceAnalysis, WithoutLabelsThereIsTheMeanOfAllPairs) {
  const AnalysisResult result = run("{type: senses, word: 배, " + kSentences + "}");
  const std::vector<double>& cosine = array(result, "cosine").values;
  EXPECT_NEAR(number(result, "embedding/mean"), (cosine[1] + cosine[2] + cosine[5]) / 3, 1e-14);
  EXPECT_EQ(result.numbers.size(), 5);
}

TEST_F(SentenceAnalysis, SentencesWithoutTheWordAreNamed) {
  const AnalysisResult result = run(
      "{type: senses, word: 배, sentences: [\"\u2581배|가\", \"\u2581어|머니\", \"\u2581배|를\"], labels: [a, b, a]}");
  EXPECT_THAT(array(result, "missing").texts, ElementsAre("\u2581어|머니"));
  EXPECT_EQ(number(result, "embedding/within"), 1) << "both stand at position 0";
  EXPECT_EQ(test::error_of<std::out_of_range>([&] { number(result, "embedding/between"); }), "embedding/between");
}

TEST_F(SentenceAnalysis, IsSkippedWithAReason) {
  for (const std::string type : {"input_rows", "senses"}) {
    const auto reason = [&](const std::string& sentences) {
      return run("{type: " + type + ", word: 배, sentences: " + sentences + "}").skipped;
    };
    EXPECT_EQ(reason("[\"가|를\"]"), "'배' is one piece or several in a row in none of the sentences");
    EXPECT_EQ(reason("[\"배|가\", \"가|가|가|가|가|가\"]"),
              "sentence 1 has 6 tokens, and the model was trained on 5 a sequence; shorten the sentence");
    EXPECT_EQ(reason("[\"\"]"), "sentence 0 has no token");
  }
  EXPECT_EQ(run("{type: senses, word: 배, sentences: [\"배|가\"]}").skipped,
            "'배' is found once: there is nothing to compare it with");
  use("{type: probe, width: 8, causal: true, position: sin}");
  const std::string block = "{type: senses, word: 배, " + kSentences + "}";
  EXPECT_EQ(run(block).skipped, "the model does not show the rows of its tokens: it has no hidden states");
  context_.model = nullptr;
  EXPECT_EQ(run(block).skipped, "the spec has no model of sequences");
  context_.ids = nullptr;
  EXPECT_EQ(run(block).skipped, "the spec has no tokenizer to cut sentences with");
}

TEST_F(SentenceAnalysis, ATableOfAnotherNameIsAReasonToSkipInputRows) {
  context_.weights = [](const std::string&) { return std::nullopt; };
  EXPECT_EQ(run("{type: input_rows, word: 배, " + kSentences + "}").skipped, "the model has no weight 'embedding'");
}

TEST_F(SentenceAnalysis, WhatCanNotBeAskedIsAnError) {
  const auto error = [&](const std::string& block) { return test::error_of<SpecError>([&] { run(block); }); };
  EXPECT_THAT(error("{type: senses, word: 배, sentences: [a, b, c], labels: [x, y]}"),
              HasSubstr("2 labels for 3 sentences"));
  for (const std::string type : {"input_rows", "senses"}) {
    EXPECT_THAT(error("{type: " + type + ", word: \"\", sentences: [a]}"), HasSubstr("there is nothing to look at"));
    EXPECT_THAT(error("{type: " + type + ", word: a, sentences: []}"), HasSubstr("there is nothing to read"));
  }
}

}  // namespace
}  // namespace jari
