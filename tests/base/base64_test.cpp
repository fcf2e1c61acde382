#include "framework/base/base64.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

TEST(Base64, DecodesTheExamplesOfRfc4648) {
  EXPECT_EQ(base64_decode(""), "");
  EXPECT_EQ(base64_decode("Zg=="), "f");
  EXPECT_EQ(base64_decode("Zm8="), "fo");
  EXPECT_EQ(base64_decode("Zm9vYmFy"), "foobar");
  EXPECT_EQ(base64_decode("+/8A"), std::string("\xFB\xFF\0", 3));
}

TEST(Base64, RefusesOtherText) {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zm9 ", "Zm-v", "=Zg="})
    EXPECT_FALSE(base64_decode(text)) << text;
}

}  // namespace
}  // namespace jari
