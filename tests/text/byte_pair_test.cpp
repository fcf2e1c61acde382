#include "framework/text/byte_pair.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "framework/base/error.hpp"
#include "tests/support/data.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/random_text.hpp"
#include "tests/support/small_byte_pair.hpp"

namespace jari {
namespace {

class SmallBytePair : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  test::BytePairFiles files_ = test::write_byte_pair(folder_.path());
  BytePair pairs_{files_.vocabulary, files_.merges};

  std::vector<std::string> pieces(std::string_view text) const {
    std::vector<std::int32_t> ids;
    pairs_.encode(text, ids);
    std::vector<std::string> result;
    for (const std::int32_t id : ids) result.push_back(pairs_.pieces()[static_cast<std::size_t>(id)]);
    return result;
  }
  std::string refusal(const std::string& vocabulary, const std::string& merges) const {
    std::ofstream(folder_.path() / "v") << vocabulary;
    std::ofstream(folder_.path() / "m") << merges;
    std::string text = test::error_of<StoreError>([&] { BytePair(folder_.path() / "v", folder_.path() / "m"); });
    return text.substr(std::min(text.size(), folder_.path().string().size() + 1));
  }
};

TEST_F(SmallBytePair, MergesTheEarliestPairFirst) {
  EXPECT_EQ(pieces("hello world"), (std::vector<std::string>{"hello", " wor", "l", "d"}));
  EXPECT_EQ(pieces("shell"), (std::vector<std::string>{"s", "hell"}));
  // "aa" "aa" "a": rank 8 (aa a) comes before rank 9 (aa aa), and the rightmost pair is the only one.
  EXPECT_EQ(pieces("aaaaa"), (std::vector<std::string>{"aa", "aaa"}));
}

TEST_F(SmallBytePair, ListAndHeapMergeAlike) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> length(1, 64), letter(0, 5);
  for (int round = 0; round < 2000; ++round) {
    std::string word;
    for (int i = length(random); i > 0; --i) word += "ahelow"[letter(random)];
    std::vector<std::int32_t> in_list, in_heap;
    pairs_.encode_word(word, in_list);
    pairs_.encode_word(word, in_heap, 0);
    ASSERT_EQ(in_list, in_heap) << word;
  }
}

TEST_F(SmallBytePair, DecodingGivesTheTextBack) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const std::string text = test::random_text(random, 200);
    std::vector<std::int32_t> ids;
    pairs_.encode(text, ids);
    ASSERT_EQ(pairs_.decode(ids), text);
  }
}

TEST_F(SmallBytePair, AVeryLongWordIsNotSlow) {
  std::vector<std::int32_t> ids;
  pairs_.encode(std::string(1000000, 'a'), ids);
  EXPECT_EQ(ids.size(), 250000u);
}

TEST_F(SmallBytePair, FilesThatDoNotFitAreRefused) {
  const std::string vocabulary = test::read_text(files_.vocabulary);
  const std::string form = "; expected GPT-2's encoder.json: one JSON object of pieces to ids";
  EXPECT_EQ(refusal("no json", ""), "v: no JSON object" + form);
  EXPECT_EQ(refusal("{\"a\": 0, \"b\": 2}", ""), "v: 'b' has the id 2: ids are 0 to 1, each once" + form);
  EXPECT_EQ(refusal("{\"한\": 0}", ""), "v: '한' is not written in GPT-2's byte alphabet" + form);
  EXPECT_EQ(refusal("{\"a\": 0}", ""), "v: there is no piece for the byte 0x00" + form);
  const std::string lines = "; expected GPT-2's vocab.bpe: two pieces a line, and the encoder.json that belongs to it";
  EXPECT_EQ(refusal(vocabulary, ""), "m: no merges; expected GPT-2's vocab.bpe: two pieces a line");
  EXPECT_EQ(refusal(vocabulary, "#version: 0.2\nl l\nhe\n"), "m:3: 'he' is no pair" + lines);
  EXPECT_EQ(refusal(vocabulary, "x y\n"), "m:1: 'xy' is not in the vocabulary" + lines);
  EXPECT_EQ(test::error_of<StoreError>([&] { BytePair(folder_.path() / "none", files_.merges); }),
            (folder_.path() / "none").string() + ": can not read: No such file or directory");
}

class Gpt2 : public ::testing::Test {
 protected:
  static const BytePair& pairs() {
    static const BytePair loaded(test::data_path("gpt2-encoder.json"), test::data_path("gpt2-vocab.bpe"));
    return loaded;
  }
};

TEST_F(Gpt2, IdsEqualThoseOfThreeOtherImplementations) {
  const auto vectors = test::data_path("gpt2-encode-vectors.jsonl");
  JARI_NEEDS_DATA(vectors);
  std::ifstream lines(vectors);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto vector = nlohmann::json::parse(line);
    const std::string text = vector.at("text");
    std::vector<std::int32_t> ids;
    pairs().encode(text, ids);
    EXPECT_EQ(ids, vector.at("ids").get<std::vector<std::int32_t>>()) << line;
    EXPECT_EQ(pairs().decode(ids), text);
  }
  EXPECT_EQ(count, 279);
}

TEST_F(Gpt2, ListAndHeapMergeAlikeOnItsOwnPieces) {
  JARI_NEEDS_DATA(test::data_path("gpt2-encoder.json"));
  std::mt19937 random(3);
  std::uniform_int_distribution<std::int32_t> any(0, pairs().size() - 1);
  for (int round = 0; round < 3000; ++round) {
    std::string word;
    for (int i = 0; i < 5; ++i) word += pairs().pieces()[static_cast<std::size_t>(any(random))];
    word.resize(std::min(word.size(), PairMerges::kLongestList));
    std::vector<std::int32_t> in_list, in_heap;
    pairs().encode_word(word, in_list);
    pairs().encode_word(word, in_heap, 0);
    ASSERT_EQ(in_list, in_heap) << word;
    ASSERT_EQ(pairs().decode(in_list), word);
  }
}

}  // namespace
}  // namespace jari
