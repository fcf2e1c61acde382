#include "framework/text/cut_patterns.hpp"

#include <gtest/gtest.h>

#include <string>

namespace jari {
namespace {

template <class PieceEnd>
std::string cuts(std::string_view text, const PieceEnd& piece_end) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = piece_end(text, begin);
    result += (begin == 0 ? "" : "|") + std::string(text.substr(begin, end - begin));
    begin = end;
  }
  return result;
}

TEST(Gpt2Pattern, CutsAsTheRegularExpressionSays) {
  EXPECT_EQ(cuts("Hello world's  two   spaces ", gpt2_piece_end), "Hello| world|'s| | two|  | spaces| ");
  EXPECT_EQ(cuts("I'll we've don't 'Sup", gpt2_piece_end), "I|'ll| we|'ve| don|'t| '|Sup");
  EXPECT_EQ(cuts("a1b22 33!?x", gpt2_piece_end), "a|1|b|22| 33|!?|x");
  EXPECT_EQ(cuts("a\n\n b\t\tc \n", gpt2_piece_end), "a|\n\n| b|\t|\t|c| \n");
  EXPECT_EQ(cuts("한국어는 재미있다.", gpt2_piece_end), "한국어는| 재미있다|.");
  EXPECT_EQ(cuts("a\u00A0\u00A0b", gpt2_piece_end), "a|\u00A0|\u00A0|b");
  EXPECT_EQ(cuts(" 's", gpt2_piece_end), " '|s");
}

// As Hugging Face's tokenizers 0.23.3 cuts them.
TEST(Llama3Pattern, CutsAsTheRegularExpressionSays) {
  const auto llama = [](std::string_view text) {
    return cuts(text, [](std::string_view all, std::size_t begin) { return llama3_piece_end(all, begin, 3); });
  };
  EXPECT_EQ(llama("it'\u017F it'S I'LLx 'Re"), "it|'\u017F| it|'S| I|'LL|x| '|Re");
  EXPECT_EQ(llama("1234567 \u0661\u0662\u0663\u0664"), "123|456|7| |\u0661\u0662\u0663|\u0664");
  EXPECT_EQ(llama("x!?\n\n y \n \n  z"), "x|!?\n\n| y| \n \n| | z");
  EXPECT_EQ(llama("\t\tab \u3000c"), "\t|\tab| |\u3000c");
  EXPECT_EQ(llama(" \r\n\r  q"), " \r\n\r| | q");
  EXPECT_EQ(llama("ab\u0301c"), "ab|\u0301c");
  EXPECT_EQ(cuts("12 3", [](std::string_view all, std::size_t begin) { return llama3_piece_end(all, begin, 1); }),
            "1|2| |3");
}

}  // namespace
}  // namespace jari
