#include "framework/text/unicode.hpp"

#include <gtest/gtest.h>

#include "framework/base/text.hpp"

namespace jari {
namespace {

std::string characters_of(CharacterClass kind, const std::u32string& all) {
  std::string result;
  for (const char32_t c : all) {
    if (character_class(c) == kind) append_utf8(c, result);
  }
  return result;
}

TEST(Unicode, ClassesAreThoseOfRegularExpressions) {
  const std::u32string all = U"aZé가中あ\u02B0ª5٣½Ⅷ² \n\u00A0\u3000\u200B_-$\u0301\uFEFF🙂";
  EXPECT_EQ(characters_of(CharacterClass::letter, all), "aZé가中あʰª");
  EXPECT_EQ(characters_of(CharacterClass::number, all), "5٣½Ⅷ²");
  EXPECT_EQ(characters_of(CharacterClass::white_space, all), " \n\u00A0\u3000");
  EXPECT_EQ(characters_of(CharacterClass::other, all), "\u200B_-$\u0301\uFEFF🙂");
}

TEST(Unicode, WhiteSpaceIsThePropertyOfThatName) {
  // PropList.txt of Unicode 15: 25 code points.
  int count = 0;
  for (char32_t c = 0; c < 0x110000; ++c) count += is_white_space(c) ? 1 : 0;
  EXPECT_EQ(count, 25);
}

TEST(Unicode, MarksAndControlsAreTheirCategories) {
  EXPECT_TRUE(is_mark(0x301) && is_nonspacing_mark(0x301));
  EXPECT_TRUE(is_mark(0x903) && !is_nonspacing_mark(0x903)) << "Mc";
  EXPECT_FALSE(is_mark(U'a') || is_mark(U'^'));
  for (const char32_t c : {0x00, 0x7F, 0xAD, 0x200B, 0xE000}) EXPECT_TRUE(is_control(c)) << static_cast<unsigned>(c);
  EXPECT_FALSE(is_control(U' ') || is_control(0x378)) << "Cn is none";
}

TEST(Unicode, WhiteSpaceAtBothEndsIsFound) {
  EXPECT_EQ(leading_white_space("\u3000 \tab "), 5u);
  EXPECT_EQ(leading_white_space(" \n"), 2u);
  EXPECT_EQ(without_trailing_white_space(" ab\u3000\n "), " ab");
  EXPECT_EQ(without_trailing_white_space(" \u00A0"), "");
}

TEST(Unicode, WhiteSpaceIsFoundByItsBytes) {
  for (char32_t c = 1; c < 0x11000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text = "x";
    append_utf8(c, text);
    ASSERT_EQ(white_space_at(text, 1), is_white_space(c) ? text.size() - 1 : 0) << static_cast<unsigned>(c);
  }
}

TEST(Unicode, PunctuationIsCategoryP) {
  for (const char32_t c : std::u32string(U".,!?-_()[]«»“”‘’·、。《》"))
    EXPECT_TRUE(is_punctuation(c)) << static_cast<unsigned>(c);
  for (const char32_t c : std::u32string(U"$+<=>^`|~a가5 €"))
    EXPECT_FALSE(is_punctuation(c)) << static_cast<unsigned>(c);
}

TEST(Unicode, LowerCaseIsSimple) {
  std::string out;
  append_lower_case("ÀÉÑ SEOUL Ω Я 서울 ß", out);
  EXPECT_EQ(out, "àéñ seoul ω я 서울 ß");
}

TEST(Unicode, AValidPrefixEndsAtWhatIsWrong) {
  const auto prefix = [](std::string_view text) {
    const Utf8Prefix found = utf8_prefix(text);
    return std::pair(found.valid, found.malformed);
  };
  EXPECT_EQ(prefix("plain ascii of some length"), std::pair(std::size_t{26}, false));
  EXPECT_EQ(prefix("가나"), std::pair(std::size_t{6}, false));
  EXPECT_EQ(prefix("가\xEB\x82"), std::pair(std::size_t{3}, false)) << "cut off";
  EXPECT_EQ(prefix("12345678\xFF"), std::pair(std::size_t{8}, true));
  EXPECT_EQ(prefix("a\xC0\x80"), std::pair(std::size_t{1}, true)) << "overlong";
  EXPECT_EQ(prefix("a\xE0\x80\x80"), std::pair(std::size_t{1}, true)) << "overlong";
  EXPECT_EQ(prefix("a\xED\xA0\x80"), std::pair(std::size_t{1}, true)) << "a surrogate";
  EXPECT_EQ(prefix("a\xF4\x90\x80\x80"), std::pair(std::size_t{1}, true)) << "beyond U+10FFFF";
  EXPECT_EQ(prefix("a\x80"), std::pair(std::size_t{1}, true)) << "no lead";
}

TEST(Unicode, ThePrefixAgreesWithTheSlowCheckOnAllShortSequences) {
  for (unsigned first = 0x80; first < 0x100; ++first) {
    for (unsigned second = 0; second < 0x100; second += 0x08) {
      for (const char* rest : {"", "\x80", "\x80\x80", "\xBF\xBF", "a"}) {
        std::string text = {static_cast<char>(first), static_cast<char>(second)};
        text += rest;
        const Utf8Prefix prefix = utf8_prefix(text);
        const std::optional<std::size_t> invalid = first_invalid_utf8(text);
        ASSERT_EQ(prefix.valid, invalid.value_or(text.size())) << escaped(text);
      }
    }
  }
}

TEST(Unicode, EscapedShowsBytesThatAreNoText) { EXPECT_EQ(escaped("a\n\t\xEA 가\x01"), "a\\n\\t\\xEA 가\\x01"); }

TEST(Unicode, TheLastCodePointIsFoundBackwards) {
  EXPECT_EQ(last_code_point("a가", 4).code_point, U'가');
  EXPECT_EQ(last_code_point("a가", 4).begin, 1u);
  EXPECT_EQ(last_code_point("a가", 1).begin, 0u);
}

}  // namespace
}  // namespace jari
