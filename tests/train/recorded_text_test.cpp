// The ids of a text, and the text of ids, by what a run file holds.

#include "framework/train/recorded_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/small_byte_pair.hpp"
#include "tests/support/small_language_model.hpp"

namespace jari {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using Ids = std::vector<std::int32_t>;

struct OnlyData {
  RecordedData data;
  template <class F>
  void fields(F& f) {
    f("data", data, "the block", required);
  }
};

RecordedText text_of(const std::string& data, const std::vector<std::string>& pieces) {
  Diagnostics diagnostics;
  const SpecNode node = read_yaml_text("data: {corpus: [/gone.txt], " + data + "}\n", "test.yaml", diagnostics);
  OnlyData bound;
  SpecNode resolved;
  Binder(&test::builtin_plugins(), diagnostics).bind(node, "", bound, resolved);
  diagnostics.throw_if_any();
  RunRecord run;
  run.vocabulary_tokens = pieces;
  run.vocabulary_counts.assign(pieces.size(), 1);
  return {bound.data, run};
}

TEST(RecordedText, CharactersAreJoinedAsTheyAre) {
  const RecordedText text = text_of("tokenizer: characters", {"하", "나", " ", "\n"});
  EXPECT_THAT(text.encode("나 하\n"), ElementsAre(1, 2, 0, 3));
  EXPECT_EQ(text.decode(Ids{1, 2, 0, 3, 3, 0}), "나 하\n\n하");
  EXPECT_THAT(text.encode("\u1102\u1161"), ElementsAre(1));  // NFC, as the corpus was
  EXPECT_EQ(text.decode(Ids{}), "");
}

TEST(RecordedText, WordsAreJoinedBySpaces) {
  const RecordedText text = text_of("tokenizer: words", {"한", "남자가"});
  EXPECT_THAT(text.encode("한, 남자가\n한."), ElementsAre(0, 1, 0));
  EXPECT_EQ(text.decode(Ids{0, 1, 0}), "한 남자가 한");
}

TEST(RecordedText, ATokenStandsForUnknownPieces) {
  const std::string block = "tokenizer: words, vocabulary: {unknown: <unk>, special: [<end>]}";
  const RecordedText text = text_of(block, {"<unk>", "<end>", "한"});
  EXPECT_THAT(text.encode("한 여자 <end>"), ElementsAre(2, 0, 0));
  EXPECT_EQ(text.decode(Ids{2, 0, 1}), "한 <unk> <end>");
}

TEST(RecordedText, NamesPiecesThatAreNotInTheVocabulary) {
  const RecordedText text = text_of("tokenizer: characters", {"a"});
  const auto error = [&](const std::string& of) { return error_of<SpecError>([&] { text.encode(of); }); };
  const std::string what_to_do =
      "; write it without them, or train with a token that stands for such pieces (data.vocabulary.unknown)";
  EXPECT_EQ(error("ab\naбb"), "the text has pieces that are not in the run's vocabulary: 'b', '\\n', 'б'" + what_to_do);
  EXPECT_EQ(error("bcdefghijklmn"),
            "the text has pieces that are not in the run's vocabulary: 'b', 'c', 'd', 'e', 'f', "
            "'g', 'h', 'i', 'j', 'k', and 3 more" +
                what_to_do);
  EXPECT_EQ(error("a\xFF"), "the text is not UTF-8 at byte 1");
}

class PairText : public ::testing::Test {
 protected:
  std::string block() const {
    return "tokenizer: {type: byte_pair, vocabulary: " + files_.vocabulary.string() +
           ", merges: " + files_.merges.string() + "}";
  }
  const test::TemporaryFolder folder_;
  const test::BytePairFiles files_ = test::write_byte_pair(folder_.path());
};

TEST_F(PairText, BytesOfACharacterComeTogether) {
  const RecordedText text = text_of(block(), std::vector<std::string>(266));
  EXPECT_THAT(text.encode("hello wor"), ElementsAre(259, 262));
  EXPECT_THAT(text.encode("한"), ElementsAre(0xED, 0x95, 0x9C));  // bytes have their own numbers in these files
  EXPECT_EQ(text.decode(Ids{259, 262, 0xED, 0x95, 0x9C, '!'}), "hello wor한!");
}

TEST_F(PairText, WhatIsNoUtf8IsShown) {
  const RecordedText text = text_of(block(), std::vector<std::string>(266));
  EXPECT_EQ(text.decode(Ids{'a', 0xED, 0x95}), "a\uFFFD");  // cut off by the end: one
  EXPECT_EQ(text.decode(Ids{'a', 0xFF, 'b', 0xED, 'c'}), "a\uFFFDb\uFFFDc");
}

TEST_F(PairText, AChosenVocabularyHasItsOwnIds) {
  const RecordedText text =
      text_of(block() + ", vocabulary: {unknown: <unk>}", {"<unk>", "hello", " wor", "\xED", "\x95", "\x9C"});
  EXPECT_THAT(text.encode("hello wor한z"), ElementsAre(1, 2, 3, 4, 5, 0));
  EXPECT_EQ(text.decode(Ids{1, 2, 3, 4, 5, 0, 1}), "hello wor한<unk>hello");
}

}  // namespace
}  // namespace jari
