#include "framework/base/diagnostic.hpp"

#include <gtest/gtest.h>

#include "framework/base/error.hpp"

namespace jari {
namespace {

SourceSpan span(const std::string& name, std::vector<std::string> lines, int line, int column, int length) {
  return {std::make_shared<const SourceFile>(SourceFile{name, std::move(lines)}), line, column, length, ""};
}

TEST(Diagnostics, ShowThePlaceTheLineAndAHint) {
  Diagnostics diagnostics;
  const std::vector<std::string> lines(14, "    type: alibbi");
  diagnostics.error(span("configs/lm.yaml", lines, 14, 11, 6), "model.position.type", "unknown position 'alibbi'",
                    "did you mean 'alibi'? known: alibi, none, rope, sin");
  EXPECT_EQ(diagnostics.render(),
            "configs/lm.yaml:14:11: error: model.position.type: unknown position 'alibbi'\n"
            "   14 |     type: alibbi\n"
            "      |           ^^^^^^ did you mean 'alibi'? known: alibi, none, rope, sin\n"
            "1 error; nothing was started.\n");
}

TEST(Diagnostics, PutTheCaretUnderWideCharacters) {
  const std::string text = render({span("a.yaml", {"words: [자리, 음악]"}, 1, 13, 2), "words.1", "no", ""});
  EXPECT_EQ(text,
            "a.yaml:1:13: error: words.1: no\n"
            "    1 | words: [자리, 음악]\n"
            "      |               ^^^^\n");
}

TEST(Diagnostics, KeepTerminalEscapesOutAndCutLongLines) {
  const std::string text = render({span("a.yaml", {"a: \x1b[31m" + std::string(400, 'x')}, 1, 300, 2), "", "no", ""});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("    1 | ..." + std::string(150, 'x') + "...\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      | " + std::string(77, ' ') + "^^\n"), std::string::npos) << text;
}

TEST(Diagnostics, AreSortedByPlaceAndToldOnce) {
  Diagnostics diagnostics;
  const SourceSpan late = span("a.yaml", {"a: 1", "b: 2"}, 2, 1, 1);
  SourceSpan early = late;
  early.line = 1;
  diagnostics.error(late, "b", "wrong");
  diagnostics.error(early, "a", "wrong");
  diagnostics.error(late, "b", "wrong");
  diagnostics.error({}, "c", "has a bad default", "tell its author");
  EXPECT_EQ(diagnostics.size(), 3u);
  EXPECT_EQ(diagnostics.render(),
            "a.yaml:1:1: error: a: wrong\n"
            "    1 | a: 1\n"
            "      | ^\n"
            "a.yaml:2:1: error: b: wrong\n"
            "    2 | b: 2\n"
            "      | ^\n"
            "error: c: has a bad default\n"
            "      = tell its author\n"
            "3 errors; nothing was started.\n");
}

TEST(Diagnostics, CountTheTrialsOfASweepThatAnErrorAffects) {
  SourceSpan place = span("a.yaml", {"heads: [4, 5]"}, 1, 12, 1);
  place.origin = "from sweep axis 'model.heads'";
  Diagnostics all;
  for (std::size_t trial = 0; trial < 96; ++trial) {
    Diagnostics of_trial;
    if (trial % 8 == 0) of_trial.error(place, "model.heads", "does not divide 128");
    all.add_trial(of_trial, trial, 96);
  }
  EXPECT_EQ(all.render(),
            "a.yaml:1:12: error: model.heads: does not divide 128\n"
            "    1 | heads: [4, 5]\n"
            "      |            ^\n"
            "      = from sweep axis 'model.heads'\n"
            "      = affects 12 of 96 trials\n"
            "1 error; nothing was started.\n");
}

TEST(Diagnostics, ThrowTheWholeText) {
  Diagnostics diagnostics;
  EXPECT_NO_THROW(diagnostics.throw_if_any());
  diagnostics.error({}, "", "no");
  try {
    diagnostics.throw_if_any();
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_EQ(error.what(), diagnostics.render());
  }
}

}  // namespace
}  // namespace jari
