#include "framework/spec/yaml_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

SpecNode read(const std::string& text) {
  Diagnostics diagnostics;
  SpecNode root = read_yaml_text(text, "a.yaml", diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << diagnostics.render();
  return root;
}

std::string errors_of(const std::string& text) {
  Diagnostics diagnostics;
  read_yaml_text(text, "a.yaml", diagnostics);
  return diagnostics.empty() ? "" : diagnostics.render();
}

TEST(YamlReader, KnowsThePlaceOfEveryValueInCodePoints) {
  const SpecNode root =
      read("이름: {낱말: [물, &a 'quo''ted', \"x\\\"y\" ]}\nblock:\n  - one two  # comment\n  - *a\n");
  EXPECT_EQ(root.find_path("이름.낱말.0")->span.location(), "a.yaml:1:11");
  EXPECT_EQ(root.find_path("이름.낱말.0")->span.length, 1);
  EXPECT_EQ(root.find_path("이름.낱말.1")->span.location(), "a.yaml:1:17");
  EXPECT_EQ(root.find_path("이름.낱말.1")->span.length, 10);
  EXPECT_EQ(root.find_path("이름.낱말.1")->text, "quo'ted");
  EXPECT_EQ(root.find_path("이름.낱말.2")->span.length, 6);
  EXPECT_EQ(root.find_path("block")->span.location(), "a.yaml:2:1");  // a block stands where its key does
  EXPECT_EQ(root.find_path("block.0")->span.length, 7);
  EXPECT_EQ(root.find_path("block.1")->text, "quo'ted");
}

TEST(YamlReader, ReadsWindowsLineEndsAndAByteOrderMark) {
  const SpecNode root = read(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 'x'\r\n");
  EXPECT_EQ(root.find_path("a")->text, "1");
  EXPECT_EQ(root.find_path("b")->span.location(), "a.yaml:2:4");
}

TEST(YamlReader, KeepsBlockTexts) {
  const SpecNode root = read("notes: |\n  yes\n  010\nfolded: >-\n  a\n  b\n");
  EXPECT_EQ(root.find("notes")->text, "yes\n010\n");
  EXPECT_TRUE(root.find("notes")->quoted);
  EXPECT_EQ(root.find("folded")->text, "a b");
}

TEST(YamlReader, RefusesBytesThatAreNotText) {
  EXPECT_THAT(errors_of("a: 1\nb: x\xff\n"), StartsWith("a.yaml:2:5: error: byte 9 of the file (0xff) is not UTF-8\n"));
  EXPECT_THAT(errors_of(std::string("a: \x04", 4)), StartsWith("a.yaml:1:4: error: a control character (0x04)\n"));
  EXPECT_THAT(errors_of(std::string("a: b\0c", 6)), StartsWith("a.yaml:1:5: error: a control character (0x00)\n"));
}

TEST(YamlReader, BoundsAliasesThatExplode) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += fmt::format("a{0}: &a{0} [", i);
    for (int k = 0; k < 10; ++k) text += fmt::format("{}*a{}", k ? ", " : "", i - 1);
    text += "]\n";
  }
  EXPECT_THAT(errors_of(text), HasSubstr("more than 100000 values, with aliases expanded"));
}

TEST(YamlReader, BoundsDepth) {
  const auto nested = [](std::size_t depth) {
    return "a: " + std::string(depth, '[') + std::string(depth, ']') + "\n";
  };
  EXPECT_EQ(errors_of(nested(63)), "");
  EXPECT_THAT(errors_of(nested(64)), HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(errors_of(nested(100'000)), HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(errors_of("a: &a [*a]\n"), HasSubstr("an alias can not stand inside of its own anchor"));
}

TEST(YamlReader, SaysWhyAFileCanNotBeRead) {
  test::TemporaryFolder folder;
  const std::string path = (folder.path() / "big.yaml").string();
  std::ofstream(path) << "a: " << std::string(5 << 20, 'x');
  Diagnostics diagnostics;
  read_yaml(path, diagnostics);
  read_yaml((folder.path() / "bgi.yaml").string(), diagnostics);
  read_yaml(folder.path().string(), diagnostics);
  const std::string text = diagnostics.render();
  EXPECT_THAT(text, HasSubstr("'" + path + "' has more than 4 MB: this is no spec"));
  EXPECT_THAT(text, HasSubstr("bgi.yaml': there is no such file\n      = did you mean '" + path + "'?"));
  EXPECT_THAT(text, HasSubstr("it is a folder, and a spec is a file"));
}

TEST(YamlReader, SurvivesAnyTruncationOfASpec) {
  const std::string text =
      "experiment: \"a\\\"b\"\nmodel: &m {type: probe, position: [1, 'x''y']}\nnotes: |\n  text\nother: !replace {a: "
      "*m}\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    Diagnostics diagnostics;
    const SpecNode root = read_yaml_text(text.substr(0, size), "a.yaml", diagnostics);
    EXPECT_TRUE(root.is_mapping() || !diagnostics.empty()) << size;
  }
}

}  // namespace
}  // namespace jari
