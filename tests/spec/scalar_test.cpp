#include "framework/spec/scalar.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace jari {
namespace {

TEST(Scalar, ReadsNumbersInAnyDecimalForm) {
  EXPECT_EQ(parse_number("1e-3"), 1e-3);
  EXPECT_EQ(parse_number("1.0e-3"), 1e-3);
  EXPECT_EQ(parse_number("+.5"), 0.5);
  EXPECT_EQ(parse_number("-2"), -2.0);
  for (const char* text : {"", "-", "inf", "nan", ".inf", "1e999", "0x1p3", "1_000", "1 ", "+-1", "e3", "."}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Scalar, ReadsWholeNumbersAsIntegers) {
  EXPECT_EQ(parse_integer("1e3"), 1000);
  EXPECT_EQ(parse_integer("2.0"), 2);
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"1.5", "1e-3", "1e300", "9223372036854775808", "abc", ""}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(Scalar, WritesTheShortestTextThatReadsBack) {
  for (double value : {0.1, 1e-3, 1.0 / 3, 1e22, -0.0, 5e-324, 3000.0}) {
    EXPECT_EQ(parse_number(format_number(value)), value) << format_number(value);
  }
  EXPECT_EQ(format_number(1.0e-3), "0.001");
  EXPECT_EQ(format_number(3000), "3000");
}

TEST(Scalar, KnowsWhatNeedsQuotes) {
  for (const char* text :
       {"", "yes", "No", "true", "010", "1e3", ".nan", "~", "null", "a: b", "a #b", "*a", "- a", "[a", "a,b", "<<"}) {
    EXPECT_FALSE(is_plain_text(text)) << text;
  }
  for (const char* text : {"adam", "model/*", "물리학", "a.b", "./x.so", "12:30", "a b"}) {
    EXPECT_EQ(is_plain_text(text), std::string_view(text) != "./x.so") << text;
  }
}

}  // namespace
}  // namespace jari
