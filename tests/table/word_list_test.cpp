#include "framework/table/word_list.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

TEST(WordList, FindsWhatWasAddedAndNothingElse) {
  WordList words;
  EXPECT_EQ(words.find("x"), std::nullopt);
  for (int i = 0; i < 5000; ++i) EXPECT_TRUE(words.add("word" + std::to_string(i)));
  EXPECT_FALSE(words.add("word17"));
  EXPECT_TRUE(words.add(""));
  EXPECT_EQ(words.size(), 5001);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(words.find("word" + std::to_string(i)), i);
  EXPECT_EQ(words.find("word5000"), std::nullopt);
  EXPECT_EQ(words.find(""), 5000);
  EXPECT_EQ(words[4999], "word4999");
}

TEST(WordList, CanReserveAfterItHasWords) {
  WordList words;
  words.add("자리");
  words.reserve(100000);
  EXPECT_EQ(words.find("자리"), 0);
  EXPECT_FALSE(words.add("자리"));
}

TEST(WordList, NumbersAreTheRowsOwn) {
  const WordList words = WordList::numbers(12);
  EXPECT_EQ(words[11], "11");
  EXPECT_EQ(words.find("7"), 7);
  EXPECT_EQ(words.find("12"), std::nullopt);
}

}  // namespace
}  // namespace jari
