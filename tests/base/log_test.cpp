#include "framework/base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/files.hpp"

namespace jari {
namespace {

TEST(Log, WritesEachLineAtOnceWithTimeAndLevel) {
  const test::TemporaryFolder folder;
  const Log log(folder.path() / "log.txt");
  log.info("starts {}");  // braces are text, not a pattern
  log.warn("a torn line");
  EXPECT_THAT(test::read_text(folder.path() / "log.txt"),
              ::testing::MatchesRegex("[-0-9]+T[:.0-9]+ info starts \\{\\}\n[-0-9]+T[:.0-9]+ warning a torn line\n"));
}

TEST(Log, AFileThatCanNotBeWrittenSaysNothing) {
  const Log log("/dev/null/log.txt");
  log.info("lost");
}

}  // namespace
}  // namespace jari
