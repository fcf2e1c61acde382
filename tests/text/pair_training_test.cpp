// Learning byte pairs: against a naive trainer, and against Hugging Face's on a text that was made up
// (tests/golden/make_tokenizers.py).
#include "framework/text/pair_training.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "framework/base/error.hpp"
#include "framework/text/normalize.hpp"
#include "framework/text/pair_trainer.hpp"
#include "framework/text/subword.hpp"
#include "framework/text/unicode.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/random_text.hpp"

namespace jari {
namespace {

const nlohmann::json& golden() {
  static const nlohmann::json read =
      nlohmann::json::parse(test::read_text(test::source_path("tests/golden/tokenizers/golden.json")));
  return read;
}

std::string trained(const std::string& text, const PairSettings& settings) {
  PairTraining training(settings);
  training.add(text, TextPlace::beginning);
  return training.finish("corpus.txt");
}

PairSettings settings(std::int64_t vocabulary, PairMark mark) {
  PairSettings result;
  result.vocabulary = vocabulary;
  result.mark = mark;
  result.coverage = 1;
  return result;
}

// Counts all pairs anew before every merge.
std::vector<PairMerge> naive(std::vector<std::vector<std::int32_t>> words, const std::vector<std::int64_t>& counts,
                             std::vector<std::string>& pieces, std::size_t size) {
  std::vector<PairMerge> merges;
  while (pieces.size() < size) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> pairs;
    for (std::size_t w = 0; w < words.size(); ++w) {
      for (std::size_t i = 0; i + 1 < words[w].size(); ++i) pairs[{words[w][i], words[w][i + 1]}] += counts[w];
    }
    const auto best =
        std::max_element(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == pairs.end()) break;
    const auto [left, right] = best->first;
    const std::string text = pieces[static_cast<std::size_t>(left)] + pieces[static_cast<std::size_t>(right)];
    const auto known = std::find(pieces.begin(), pieces.end(), text);
    const auto result = static_cast<std::int32_t>(known - pieces.begin());
    if (known == pieces.end()) pieces.push_back(text);
    const auto same = [&, l = left, r = right](const PairMerge& merge) { return merge.left == l && merge.right == r; };
    if (std::none_of(merges.begin(), merges.end(), same)) merges.push_back({left, right, result});
    for (std::vector<std::int32_t>& word : words) {
      std::vector<std::int32_t> merged;
      for (std::size_t i = 0; i < word.size(); ++i) {
        const bool here = i + 1 < word.size() && word[i] == left && word[i + 1] == right;
        merged.push_back(here ? result : word[i]);
        if (here) ++i;
      }
      word = merged;
    }
  }
  return merges;
}

TEST(PairTrainer, MergesAsOneThatCountsAllPairsAnew) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> length(2, 12), letter(0, 3), count(1, 4);
  for (int round = 0; round < 200; ++round) {
    PairWords words;
    std::vector<std::vector<std::int32_t>> copies;
    for (int w = 0; w < 20; ++w) {
      std::vector<std::int32_t>& word = copies.emplace_back();
      for (int i = length(random); i > 0; --i) word.push_back(letter(random));
      words.parts.insert(words.parts.end(), word.begin(), word.end());
      words.ends.push_back(words.parts.size());
      words.counts.push_back(count(random));
    }
    std::vector<std::string> pieces = {"a", "b", "c", "d"}, expected_pieces = pieces;
    const std::vector<PairMerge> expected = naive(copies, words.counts, expected_pieces, 60);
    const std::vector<PairMerge> merges = train_pairs(words, pieces, 60);
    ASSERT_EQ(pieces, expected_pieces);
    ASSERT_EQ(merges.size(), expected.size());
    for (std::size_t i = 0; i < merges.size(); ++i) {
      EXPECT_EQ(merges[i].left, expected[i].left);
      EXPECT_EQ(merges[i].right, expected[i].right);
      EXPECT_EQ(merges[i].result, expected[i].result);
    }
  }
}

TEST(PairTraining, FindsThePiecesAndMergesThatHuggingFaceFinds) {
  const std::string corpus = golden().at("corpus");
  for (const PairMark mark : {PairMark::word_start, PairMark::bytes}) {
    PairSettings wanted = settings(mark == PairMark::bytes ? 400 : 500, mark);
    wanted.special = {"<pad>"};
    if (mark == PairMark::bytes) wanted.special.emplace_back("<eos>");
    const auto model = nlohmann::json::parse(trained(corpus, wanted)).at("model");
    const auto& expected = golden().at("trained").at(mark == PairMark::bytes ? "bytes" : "word_start");
    std::vector<std::string> pieces(model.at("vocab").size());
    for (const auto& [piece, id] : model.at("vocab").items()) pieces.at(id.get<std::size_t>()) = piece;
    EXPECT_EQ(pieces, expected.at("pieces").get<std::vector<std::string>>());
    EXPECT_EQ(model.at("merges"), expected.at("merges"));
  }
}

TEST(PairTraining, DoesNotDependOnHowTheCorpusIsCut) {
  const std::string corpus = golden().at("corpus");
  const std::string whole = trained(corpus, settings(500, PairMark::word_start));
  PairTraining training(settings(500, PairMark::word_start));
  std::size_t begin = 0;
  for (std::size_t cut = 1; cut < corpus.size(); ++cut) {
    const bool at_word_end = (corpus[cut] == ' ' || corpus[cut] == '\n') && corpus[cut - 1] > ' ';
    if (!at_word_end) continue;
    training.add(std::string_view(corpus).substr(begin, cut - begin),
                 begin == 0 ? TextPlace::beginning : TextPlace::rest);
    begin = cut;
  }
  training.add(std::string_view(corpus).substr(begin), TextPlace::rest);
  EXPECT_EQ(training.finish("corpus.txt"), whole);
}

std::vector<std::string> cut(const Subword& tokenizer, const std::string& text) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, TextPlace::beginning, ids);
  std::vector<std::string> pieces;
  for (const std::int32_t id : ids) pieces.push_back(tokenizer.pieces()[static_cast<std::size_t>(id)]);
  return pieces;
}

using Pieces = std::vector<std::string>;

TEST(PairTraining, CoversTheMostFrequentCharacters) {
  // Ten characters with the word start, of which "x" and "y" are one each.
  PairSettings wanted = settings(256 + 5, PairMark::word_start);
  wanted.coverage = 0.75;
  const Subword fallback = Subword::read(trained("aaaabbbyx", wanted), "test");
  EXPECT_EQ(cut(fallback, "xya"), (Pieces{"▁", "x", "<0x79>", "a"})) << "of x and y the smaller";
  wanted.byte_fallback = false;
  wanted.vocabulary = 6;
  const Subword unknown = Subword::read(trained("aaaabbbyx", wanted), "test");
  EXPECT_EQ(unknown.pieces(), (Pieces{"<unk>", "a", "b", "x", "▁", "aa"}));
  EXPECT_EQ(cut(unknown, "xya"), (Pieces{"▁", "x", "<unk>", "a"}));
}

TEST(PairTraining, DoesNotMergeAcrossCharactersThatAreNoPieces) {
  PairSettings wanted = settings(256 + 3, PairMark::word_start);
  wanted.coverage = 0.75;
  const Subword tokenizer = Subword::read(trained("aab aab aab aab aab aa", wanted), "test");
  EXPECT_EQ(cut(tokenizer, "aab"), (Pieces{"▁", "aa", "<0x62>"}));
}

TEST(PairTraining, RefusesAVocabularyThatDoesNotFit) {
  EXPECT_EQ(test::error_of<StoreError>([] { trained("abc", settings(258, PairMark::word_start)); }),
            "corpus.txt: a vocabulary of 258 is too small: 0 tokens, 256 bytes and 4 characters are pieces");
  EXPECT_EQ(test::error_of<StoreError>([] { trained("abc", settings(300, PairMark::word_start)); }),
            "corpus.txt: the text gives 263 pieces, too few for a vocabulary of 300: ask for fewer, or give more text");
}

// All of Unicode: also the word start itself, what stands for it in a piece, and characters that no corpus held.
std::string random_unicode(std::mt19937& random) {
  std::uniform_int_distribution<int> length(0, 20), kind(0, 5);
  std::uniform_int_distribution<char32_t> any(0, 0x10FFFF), low(0, 0x17F), jamo(0x1100, 0x1200), mark(0x300, 0x36F);
  const std::u32string special = U" \n\t\u2581\uE581\u00A0\u3000<>01x";
  std::uniform_int_distribution<std::size_t> of_special(0, special.size() - 1);
  std::string text;
  for (int i = length(random); i > 0; --i) {
    char32_t c = 0;
    switch (kind(random)) {
      case 0:
        c = any(random);
        break;
      case 1:
        c = low(random);
        break;
      case 2:
        c = jamo(random);
        break;
      case 3:
        c = mark(random);
        break;
      default:
        c = special[of_special(random)];
    }
    if (c < 0xD800 || c > 0xDFFF) append_utf8(c, text);
  }
  return text;
}

TEST(PairTraining, DecodingGivesBackTheNormalFormOfEveryText) {
  const std::string corpus = golden().at("corpus");
  std::mt19937 random(4);
  for (const PairMark mark : {PairMark::word_start, PairMark::bytes}) {
    const Subword tokenizer = Subword::read(trained(corpus, settings(450, mark)), "test");
    for (int round = 0; round < 20000; ++round) {
      const std::string text = round % 2 == 0 ? random_unicode(random) : test::random_text(random, 40);
      std::string scratch;
      std::vector<std::int32_t> ids;
      tokenizer.encode(text, TextPlace::beginning, ids);
      ASSERT_EQ(tokenizer.decode(ids), to_nfc(text, scratch)) << escaped(text);
    }
  }
}

}  // namespace
}  // namespace jari
