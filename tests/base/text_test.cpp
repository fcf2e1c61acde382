#include "framework/base/text.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

TEST(Text, CountsCodePointsAndColumns) {
  EXPECT_EQ(count_code_points("자리 a"), 4);
  EXPECT_EQ(display_width("자리 a"), 6);
  EXPECT_EQ(display_width("naïve"), 5);
  EXPECT_EQ(display_width("e\u0301"), 1);             // a combining accent
  EXPECT_EQ(display_width("\u1112\u1161\u11ab"), 2);  // Hangul from its parts
  EXPECT_EQ(display_width("漢字かなＡ"), 10);
  EXPECT_EQ(display_width("😀"), 2);
}

TEST(Text, FindsTheFirstByteThatIsNotUtf8) {
  EXPECT_EQ(first_invalid_utf8("자리 \U0001F600 \uFFFD"), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("ab\xff"), 2u);
  EXPECT_EQ(first_invalid_utf8("a\xc0\xaf"), 1u);         // overlong '/'
  EXPECT_EQ(first_invalid_utf8("\xed\xa0\x80"), 0u);      // a surrogate
  EXPECT_EQ(first_invalid_utf8("\xf4\x90\x80\x80"), 0u);  // beyond U+10FFFF
  EXPECT_EQ(first_invalid_utf8("\xec\x9e"), 0u);          // cut short
}

TEST(Text, IsShownWithoutWhatTerminalsObey) {
  EXPECT_EQ(printable("자리 a\\b"), "자리 a\\b");
  EXPECT_EQ(printable("\x1b[31mred\n\x7f"), "\\x1b[31mred\\x0a\\x7f");
  EXPECT_EQ(printable("\u009b31m"), "\\x9b31m");  // the one-character form of escape and '['
  EXPECT_EQ(printable("a\xff"), "a\uFFFD");
  EXPECT_EQ(printable_lines("자리\n\tb\r\x1b]0;title\x07\n\xea"), "자리\n\tb\\x0d\\x1b]0;title\\x07\n\uFFFD");
}

TEST(Utf8Text, HoldsAnyBytesAndGivesThemBack) {
  EXPECT_EQ(as_utf8("배 ab"), "배 ab");
  EXPECT_EQ(as_utf8(std::string_view("\0a", 2)), "\\x00a");
  EXPECT_EQ(as_utf8("\xEB\xB0"), "\\xEB\\xB0");
  EXPECT_EQ(as_utf8("\\n \\x41"), "\\n \\x5Cx41");  // only what would be read as an escape
  std::uint64_t state = 1;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (int k = 0; k < 12; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      constexpr std::string_view kSome(
          "\\x41\0\xEB\xB0\xB0"
          "F",
          9);
      bytes += kSome[(state >> 33) % kSome.size()];
    }
    const std::string text = as_utf8(bytes);
    EXPECT_EQ(first_invalid_utf8(text), std::nullopt);
    EXPECT_EQ(text.find('\0'), std::string::npos);
    EXPECT_EQ(bytes_of_utf8(text), bytes);
  }
}

}  // namespace
}  // namespace jari
