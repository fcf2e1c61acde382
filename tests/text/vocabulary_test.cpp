#include "framework/text/vocabulary.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "framework/text/piece_counter.hpp"

namespace jari {
namespace {

PieceCounter counter_of(const std::vector<std::string>& pieces) {
  PieceCounter counter;
  for (const std::string& piece : pieces) counter.add(piece);
  return counter;
}

ChosenVocabulary chosen(const PieceCounter& counter, const VocabularySettings& settings) {
  return choose_vocabulary({counter.size(), [&](std::int32_t i) { return counter.piece(i); },
                            [&](std::int32_t i) { return counter.count(i); }},
                           settings);
}

using Pieces = std::vector<std::string>;
using Counts = std::vector<std::int64_t>;

TEST(PieceCounter, CountsAsAMapDoes) {
  std::mt19937 random(1);
  std::geometric_distribution<int> draw(0.0003);
  PieceCounter counter;
  std::map<std::string, std::int64_t> expected;
  for (int i = 0; i < 200000; ++i) {
    const std::string piece = std::string(static_cast<std::size_t>(i % 3), 'x') + std::to_string(draw(random));
    counter.add(piece);
    ++expected[piece];
  }
  counter.add(std::string(3000000, 'y'));  // longer than a chunk
  ++expected[std::string(3000000, 'y')];
  ASSERT_EQ(static_cast<std::size_t>(counter.size()), expected.size());
  for (std::int32_t i = 0; i < counter.size(); ++i) {
    ASSERT_EQ(counter.count(i), expected.at(std::string(counter.piece(i))));
  }
}

TEST(Vocabulary, IsByCountThenByFirstAppearance) {
  const PieceCounter counter = counter_of({"z", "b", "a", "b", "z", "c", "b", "d"});
  const ChosenVocabulary result = chosen(counter, {});
  EXPECT_EQ(result.vocabulary.pieces(), (Pieces{"b", "z", "a", "c", "d"}));
  EXPECT_EQ(result.vocabulary.counts(), (Counts{3, 2, 1, 1, 1}));
  EXPECT_EQ(result.id_of, (std::vector<std::int32_t>{1, 0, 2, 3, 4}));
  EXPECT_EQ(result.vocabulary.find("c"), 3);
  EXPECT_EQ(result.vocabulary.find("none"), std::nullopt);
}

TEST(Vocabulary, LeavesOutWhatIsRareOrTooMuch) {
  const PieceCounter counter = counter_of({"z", "b", "a", "b", "z", "c", "b", "d"});
  EXPECT_EQ(chosen(counter, {3, 1, std::nullopt, {}}).vocabulary.pieces(), (Pieces{"b", "z", "a"}));
  const ChosenVocabulary result = chosen(counter, {std::nullopt, 2, std::nullopt, {}});
  EXPECT_EQ(result.vocabulary.pieces(), (Pieces{"b", "z"}));
  EXPECT_EQ(result.id_of, (std::vector<std::int32_t>{1, 0, -1, -1, -1}));
}

TEST(Vocabulary, SpecialTokensComeFirstAndCountAsIds) {
  const PieceCounter counter = counter_of({"z", "b", "<unk>", "b", "z", "c", "b", "d"});
  const ChosenVocabulary result = chosen(counter, {4, 1, "<unk>", {"<mask>"}});
  EXPECT_EQ(result.vocabulary.pieces(), (Pieces{"<unk>", "<mask>", "b", "z"}));
  EXPECT_EQ(result.vocabulary.counts(), (Counts{3, 0, 3, 2})) << "the unknown token counts what it stands for";
  EXPECT_EQ(result.id_of, (std::vector<std::int32_t>{3, 2, 0, 0, 0}));
  EXPECT_EQ(result.vocabulary.find("<unk>"), std::nullopt) << "text that looks like a special token is none";
  EXPECT_EQ(result.vocabulary.unknown(), 0);
}

}  // namespace
}  // namespace jari
