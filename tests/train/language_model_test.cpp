// A small language model trained from a text: what its evaluations tell, and batches in parts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "framework/store/run_file.hpp"
#include "framework/train/text_sizes.hpp"
#include "framework/train/trainer.hpp"
#include "tests/support/cache_home.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::sweep_of;
using test::TemporaryFolder;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LanguageModelTraining : public ::testing::Test {
 protected:
  LanguageModelTraining() {
    std::ofstream text(corpus(), std::ios::binary);
    const char* who[] = {"한 남자가", "그 여자는", "늙은 사공이", "아이 둘이", "먼 나라의 왕이"};
    const char* what[] = {"배를 타고", "말을 몰아", "노래하며", "걷고 걸어"};
    const char* where[] = {"강을 건넜다", "산을 넘었다",   "마을에 닿았다",
                           "길을 잃었다", "바다를 보았다", "집으로 돌아왔다"};
    std::uint64_t state = 1;
    const auto draw = [&](std::uint64_t count) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return (state >> 33) % count;
    };
    for (int line = 0; line < 150; ++line)
      text << who[draw(5)] << " " << what[draw(4)] << " " << draw(9) << "번 " << where[draw(6)] << ".\n";
  }

  std::filesystem::path corpus() const { return folder_.path() / "text.txt"; }

  std::string spec(const std::string& tokenizer, const std::string& train = "",
                   const std::string& evaluate = "") const {
    return "experiment: lm\nprecision: f64\ndata: {corpus: " + corpus().string() + ", tokenizer: " + tokenizer +
           "}\ntask: {type: language_model, held_out: 0.2}\n"
           "model: {type: gpt, blocks: 2, heads: 2, width: 8, position: sin}\n"
           "train: {steps: 30, batch: 8, length: 16, optimizer: {type: adamw, lr: 1e-2}, log_every: 1" +
           train + "}\nevaluate: {test: {length: 16" + evaluate + "}}\n";
  }

  RunRecord run(const std::string& yaml) const {
    test::ParsedSweep parsed = sweep_of(yaml);
    parsed.sweep.groups[0].programs->plan();
    const TemporaryFolder runs;
    ThreadPool pool(1);
    Progress silent;
    const Trial& trial = parsed.sweep.trials[0];
    for (const TrialOutcome& outcome :
         train_group(*parsed.sweep.groups[0].programs, {&trial}, runs.path(), {}, pool, silent, {}))
      EXPECT_EQ(outcome.status, "finished") << outcome.message;
    return read_run_file(runs.path() / trial.folder / "run.h5");
  }

  static const std::vector<double>& weights_of(const RunRecord& run, const std::string& path) {
    for (const RecordArray& each : run.weights)
      if (each.name == path) return std::get<std::vector<double>>(each.values);
    throw std::out_of_range(path);
  }

  static double last(const RunRecord& run, const std::string& metric) {
    for (const MetricSeries& series : run.metrics)
      if (series.name == metric) return series.values.back();
    return std::nan("");
  }

  const TemporaryFolder folder_;
  const test::CacheHome cache_{folder_.path()};
};

TEST_F(LanguageModelTraining, TellsPerplexityAndBitsOfTheText) {
  const RunRecord record = run(spec("characters"));
  const double loss = last(record, "evaluate/test/loss");
  ASSERT_TRUE(std::isfinite(loss));
  EXPECT_NEAR(last(record, "evaluate/test/perplexity"), std::exp(loss), 1e-9);
  EXPECT_NEAR(last(record, "evaluate/test/bits_per_character"), loss / std::log(2.0), 1e-12);
  // The text's last fifth, but its first character, which nothing predicts.
  const std::string text = test::read_text(corpus());
  std::vector<std::size_t> sizes;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) sizes.push_back(0);
    ++sizes.back();
  }
  const std::size_t held_out = static_cast<std::size_t>(0.2 * static_cast<double>(sizes.size()));
  double bytes = 0;
  for (std::size_t i = sizes.size() - held_out + 1; i < sizes.size(); ++i) bytes += static_cast<double>(sizes[i]);
  EXPECT_NEAR(last(record, "evaluate/test/bits_per_byte"),
              loss / std::log(2.0) * static_cast<double>(held_out - 1) / bytes, 1e-12);
}

TEST_F(LanguageModelTraining, WordsAreNotAllOfTheText) {
  const RunRecord record = run(spec("words"));
  EXPECT_TRUE(std::isfinite(last(record, "evaluate/test/perplexity")));
  EXPECT_TRUE(std::isnan(last(record, "evaluate/test/bits_per_byte")));
}

TEST_F(LanguageModelTraining, ABatchInPartsHasTheSameGradient) {
  const RunRecord whole = run(spec("characters")), parts = run(spec("characters", ", accumulate: 4"));
  ASSERT_EQ(whole.weights.size(), parts.weights.size());
  for (std::size_t i = 0; i < whole.weights.size(); ++i) {
    const auto& left = std::get<std::vector<double>>(whole.weights[i].values);
    const auto& right = std::get<std::vector<double>>(parts.weights[i].values);
    for (std::size_t k = 0; k < left.size(); ++k)
      ASSERT_NEAR(left[k], right[k], 1e-6) << whole.weights[i].name << "[" << k << "]";
  }
  EXPECT_NEAR(last(whole, "train/loss"), last(parts, "train/loss"), 1e-6);
}

TEST_F(LanguageModelTraining, PartsTakeLessMemory) {
  std::vector<std::size_t> bytes;
  for (const char* parts : {"", ", accumulate: 8"}) {
    test::ParsedSweep parsed = sweep_of(spec("characters", parts));
    parsed.sweep.groups[0].programs->plan();
    bytes.push_back(parsed.sweep.groups[0].programs->train()->report().arena_bytes);
  }
  EXPECT_LT(bytes[1], bytes[0] / 3);
}

TEST_F(LanguageModelTraining, AStrideOfTheLengthIsAPackedEvaluationAndASmallerOneAnother) {
  const auto evaluated = [&](const std::string& stride) {
    return last(run(spec("characters", "", stride)), "evaluate/test/loss");
  };
  EXPECT_EQ(evaluated(", stride: 16"), evaluated(""));
  EXPECT_NE(evaluated(", stride: 4"), evaluated(""));
}

TEST_F(LanguageModelTraining, TextSizesOfPiecesAreThoseOfTheirText) {
  for (const char* mark : {"word_start", "bytes"}) {
    test::ParsedSweep parsed =
        sweep_of(spec(std::string("{type: byte_pair, train: {vocabulary: 340, mark: ") + mark + "}}"));
    const TrialPrograms& programs = *parsed.sweep.groups[0].programs;
    const std::optional<TextSizes>& sizes = programs.text_sizes();
    ASSERT_TRUE(sizes);
    std::int64_t bytes = 0, characters = 0;
    const auto ids = programs.corpus()->ids;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      // The first token begins a line, as does one behind a line's end, which the last token is.
      const TextSize size = sizes->behind(ids[i == 0 ? ids.size() - 1 : i - 1], ids[i]);
      bytes += size.bytes;
      characters += size.characters;
    }
    const std::string text = test::read_text(corpus());
    std::int64_t all = 0;
    for (const char byte : text) all += (static_cast<unsigned char>(byte) & 0xC0) != 0x80 ? 1 : 0;
    EXPECT_EQ(bytes, static_cast<std::int64_t>(text.size())) << mark;
    EXPECT_EQ(characters, all) << mark;
  }
}

const std::vector<double>& numbers_of(const RecordAnalysis& analysis, const std::string& array) {
  for (const RecordArray& each : analysis.arrays)
    if (each.name == array) return std::get<std::vector<double>>(each.values);
  throw std::out_of_range(array);
}
const std::vector<std::string>& texts_of(const RecordAnalysis& analysis, const std::string& array) {
  for (const RecordArray& each : analysis.arrays)
    if (each.name == array) return std::get<std::vector<std::string>>(each.values);
  throw std::out_of_range(array);
}

// A corpus in which the pairs of "▁배" are the most frequent.
const std::string kThreeMeanings = "강에서 배를 탄다.\n배가 달다.\n밥을 먹으니 배도 부르다.\n";
// In the second sentence 배 is written as two letters that NFC makes one of; the last text has more than 16 tokens.
const std::string kAnalyses =
    "analyses:\n"
    "  near: {type: neighbors, words: [배, 없는말], count: 3}\n"
    "  map: {type: projection, words: 20, order: frequency, nearer: [배]}\n"
    "  positions: position_cosine\n"
    "  rows: {type: input_rows, word: \u2581배, sentences: [배를 탄다, \"\u1107\u1162가 달다\", 강에서 배를]}\n"
    "  senses: {type: senses, word: \u2581배, sentences: [배를 탄다, 배가 달다], labels: [ship, pear]}\n"
    "  long: {type: senses, word: 배, sentences: [배를 탄다, 강에서 배를 탄다. 밥을 먹으니 배도 부르다. 배가 달다.]}\n";

TEST_F(LanguageModelTraining, IsLookedIntoWithTheWordsOfItsTokenizer) {
  std::ofstream text(corpus(), std::ios::binary);
  for (int i = 0; i < 40; ++i) text << kThreeMeanings;
  text.close();
  std::string yaml = spec("{type: byte_pair, train: {vocabulary: 282}}") + kAnalyses;
  yaml.replace(yaml.find("position: sin"), 13, "position: {type: learned, max_length: 16}");
  const RunRecord record = run(yaml);
  ASSERT_EQ(record.analyses.size(), 6);
  const RecordAnalysis &near = record.analyses[0], &map = record.analyses[1], &rows = record.analyses[3];
  EXPECT_THAT(texts_of(near, "unknown"), ElementsAre("없는말"));
  EXPECT_EQ(texts_of(map, "word").size(), 20);
  EXPECT_EQ(texts_of(map, "nearer_word").size(), 1);
  EXPECT_EQ(numbers_of(record.analyses[2], "norm").size(), 16);
  // The second sentence is in NFC when it is cut.
  EXPECT_THAT(texts_of(rows, "piece"), ElementsAre("\u2581배", "\u2581배", "\u2581배"));
  EXPECT_THAT(numbers_of(rows, "token_cosine"), Each(1));
  EXPECT_EQ(numbers_of(rows, "input_cosine")[1], 1) << "at position 0 both";
  EXPECT_NE(numbers_of(rows, "input_cosine")[2], 1);
  const auto at = static_cast<std::size_t>(numbers_of(rows, "position")[2]);
  const std::vector<double>&trained = weights_of(record, "embedding"),
        &positions = weights_of(record, "position/table");
  const std::vector<double>&input = numbers_of(rows, "input_row"), &token = numbers_of(rows, "token_row");
  EXPECT_NE(std::search(trained.begin(), trained.end(), token.begin(), token.begin() + 8), trained.end());
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(input[16 + i], token[i] + positions[8 * at + i]);
  EXPECT_THAT(texts_of(record.analyses[4], "place"),
              ElementsAre("embedding", "block0/attention", "block0", "block1/attention", "block1"));
  EXPECT_EQ(record.analyses[4].numbers.front().first, "embedding/between");
  EXPECT_THAT(record.analyses[5].skipped, HasSubstr("tokens, and the model was trained on 16 a sequence"));
}

TEST_F(LanguageModelTraining, RefusesWhatHasNoEffect) {
  const auto error = [&](const std::string& yaml) { return test::error_of<SpecError>([&] { sweep_of(yaml); }); };
  EXPECT_THAT(error(spec("characters", ", accumulate: 3")), HasSubstr("3 does not divide the batch of 8"));
  EXPECT_THAT(error(spec("characters", "", ", stride: 17")), HasSubstr("some tokens would stand in no sequence"));
  EXPECT_THAT(error("experiment: x\ntask: neighbor\nmodel: {type: probe, position: sin}\ntrain: {steps: 1, batch: 2, "
                    "length: 5, optimizer: adam}\nevaluate: {test: {length: 5, stride: 2}}\n"),
              HasSubstr("has no effect: the task's sequences are no text"));
  EXPECT_THAT(error(spec("characters") + "keep: {weights: best, metric: evaluate/test/bits_per_byt}\n"),
              HasSubstr("known: evaluate/test/loss, evaluate/test/accuracy, evaluate/test/perplexity"));
}

}  // namespace
}  // namespace jari
