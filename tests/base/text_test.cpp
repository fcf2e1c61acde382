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
}

}  // namespace
}  // namespace jari
