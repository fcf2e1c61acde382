// Each tests/spec/errors/<name>.yaml is a spec with mistakes, bound as a Recipe, and <name>.expect the exact text that
// its author gets to see. A first line `# overrides: KEY=VALUE ...` is the command line. To write the expected texts of
// new files, run with JARI_WRITE_EXPECTED=1, and read them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "framework/spec/compose.hpp"
#include "tests/spec/recipe.hpp"
#include "tests/support/files.hpp"

namespace jari::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> overrides_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  const std::string mark = "# overrides: ";
  std::vector<std::string> overrides;
  if (line.compare(0, mark.size(), mark) != 0) return overrides;
  std::istringstream words(line.substr(mark.size()));
  for (std::string word; words >> word;) overrides.push_back(word);
  return overrides;
}

std::vector<std::string> bad_specs() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(source_path("tests/spec/errors"))) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class BadSpec : public testing::TestWithParam<std::string> {
 protected:
  // Files are named relative to their folder in the expected texts.
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(source_path("tests/spec/errors"));
    setenv("JARI_TEST_STEPS", "many", 1);
  }
  void TearDown() override { fs::current_path(before_); }

 private:
  fs::path before_;
};

TEST_P(BadSpec, IsReportedExactly) {
  const std::string file = GetParam() + ".yaml";
  Diagnostics diagnostics;
  const SpecNode root = load_spec(file, overrides_of(file), diagnostics);
  const Registry registry = recipe_registry();
  Binder binder(&registry, diagnostics);
  Recipe recipe;
  SpecNode resolved;
  if (root.is_mapping()) binder.bind(root, "", recipe, resolved);
  ASSERT_FALSE(diagnostics.empty());
  const std::string text = diagnostics.render();
  if (std::getenv("JARI_WRITE_EXPECTED") != nullptr) std::ofstream(GetParam() + ".expect") << text;
  EXPECT_EQ(text, read_text(GetParam() + ".expect"));
}

INSTANTIATE_TEST_SUITE_P(Errors, BadSpec, testing::ValuesIn(bad_specs()), [](const auto& spec) { return spec.param; });

TEST(BadSpecs, CoverAtLeastFortyMistakes) { EXPECT_GE(bad_specs().size(), 40u); }

}  // namespace
}  // namespace jari::test
