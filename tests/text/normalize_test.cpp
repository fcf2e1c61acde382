#include "framework/text/normalize.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/files.hpp"

namespace jari {
namespace {

TEST(Normalize, EqualsPythons) {
  const auto golden = nlohmann::json::parse(test::read_text(test::source_path("tests/golden/text.json")));
  std::string scratch;
  int changed = 0;
  for (const auto& pair : golden.at("nfc")) {
    const std::string text = pair[0], expected = pair[1];
    EXPECT_EQ(to_nfc(text, scratch), expected);
    EXPECT_EQ(to_nfc("앞 " + text + " 뒤", scratch), "앞 " + expected + " 뒤");
    changed += text != expected ? 1 : 0;
  }
  EXPECT_GT(changed, 100) << "the golden texts are to hold some that change";
}

TEST(Normalize, LeavesNormalTextWhereItIs) {
  std::string scratch;
  const std::string_view text = "Normal text, é and 한국어.";
  EXPECT_EQ(to_nfc(text, scratch).data(), text.data());
}

TEST(Normalize, ComposesHangulThatMacWrites) {
  std::string scratch;
  EXPECT_EQ(to_nfc("\u1112\u1161\u11AB\u1100\u116E\u11A8\u110B\u1165", scratch), "한국어");
}

TEST(Normalize, KeepsTheVowelThatLooksLikeNoFinalConsonant) {
  std::string scratch;
  EXPECT_EQ(to_nfc("다\u11A7\u1103\u1161\u11A7", scratch), "다\u11A7다\u11A7");
}

TEST(Normalize, TakesLettersAndMarksApart) {
  EXPECT_EQ(to_nfd("각é ﬁ"), "\u1100\u1161\u11A8e\u0301 ﬁ");
  EXPECT_EQ(to_nfkd("é ﬁ ①"), "e\u0301 fi 1");
  EXPECT_EQ(to_nfkc("e\u0301 ﬁ ①"), "é fi 1");
}

}  // namespace
}  // namespace jari
