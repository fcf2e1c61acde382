// Each bad_specs/<name>.yaml gives exactly the text of <name>.expect on stderr, exit status 2 and nothing else. To
// write the texts anew after a change that was wanted: JARI_WRITE_EXPECTED=1 test_tools, and read the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/files.hpp"
#include "tools/commands.hpp"

namespace jari {
namespace {

std::vector<std::string> spec_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path("tests/tools/bad_specs"))) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class BadSpec : public ::testing::TestWithParam<std::string> {};

TEST_P(BadSpec, IsDiagnosedExactly) {
  const std::filesystem::path folder = test::source_path("tests/tools/bad_specs");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);  // so that the texts name the file alone
  const std::string file = GetParam() + ".yaml";
  const char* const arguments[] = {"jari", "check", file.c_str()};
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status = run_program(3, arguments);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  std::filesystem::current_path(before);
  EXPECT_EQ(status, 2);
  const std::filesystem::path expected = folder / (GetParam() + ".expect");
  if (std::getenv("JARI_WRITE_EXPECTED") != nullptr) std::ofstream(expected, std::ios::binary) << text;
  EXPECT_EQ(text, test::read_text(expected));
}

INSTANTIATE_TEST_SUITE_P(All, BadSpec, ::testing::ValuesIn(spec_names()), [](const auto& name) { return name.param; });

TEST(BadSpecs, AreAtLeastSixty) { EXPECT_GE(spec_names().size(), 60u); }

}  // namespace
}  // namespace jari
