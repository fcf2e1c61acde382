// jari new: every recipe is copied into a spec that says the same and passes `jari check`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/spec/compose.hpp"
#include "framework/store/atomic_file.hpp"
#include "tests/support/files.hpp"
#include "tests/tools/run_jari.hpp"
#include "tools/recipes.hpp"

namespace jari {
namespace {

using test::Output;
using test::run_jari;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

SpecNode composed(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  SpecNode spec = compose_spec(path.string(), {}, diagnostics);
  diagnostics.throw_if_any();
  spec.set("experiment", SpecNode::scalar("same", true));
  return spec;
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  return names;
}

class EachRecipe : public ::testing::TestWithParam<std::string> {};

TEST_P(EachRecipe, BecomesASpecThatSaysTheSameAndPassesTheCheck) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "mine.yaml";
  const Output made = run_jari({"new", path.string(), "--from", GetParam()});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, StartsWith(path.string() + ": written, from the recipe " + GetParam() + "\n"));
  const Output checked = run_jari({"check", path.string()});
  EXPECT_EQ(checked.status, 0) << checked.err;
  const std::filesystem::path original = test::source_path("configs/" + GetParam() + ".yaml");
  EXPECT_EQ(to_yaml(composed(path), /*sorted=*/true), to_yaml(composed(original), /*sorted=*/true));
  const std::string text = test::read_text(path);
  EXPECT_THAT(text, HasSubstr("experiment: mine\n"));
  EXPECT_THAT(text, Not(HasSubstr("extends")));
  EXPECT_THAT(text, StartsWith("# ")) << "the recipe's comments stay";
}

INSTANTIATE_TEST_SUITE_P(All, EachRecipe, ::testing::ValuesIn(recipe_names()),
                         [](const auto& name) { return name.param; });

TEST(New, HoldsAllFilesOfConfigs) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_path("configs"))) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string path = std::filesystem::relative(entry.path(), test::source_path("configs")).string();
    const auto found = std::ranges::find(recipe_files(), path, &RecipeFile::path);
    ASSERT_NE(found, recipe_files().end()) << path;
    EXPECT_EQ(found->text, test::read_text(entry.path())) << path;
  }
  EXPECT_EQ(recipe_files().size(), files);
}

TEST(New, KeepsWhatIsThere) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "mine.yaml";
  write_file_atomically(path, "precious");
  const Output output = run_jari({"new", (folder.path() / "mine").string()});
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.err, "error: " + path.string() + ": is there already; name another file, or remove it\n");
  EXPECT_EQ(test::read_text(path), "precious");
}

TEST(New, RefusesANameThatCanNotBeAFolders) {
  const test::TemporaryFolder folder;
  const Output output = run_jari({"new", (folder.path() / "my probe").string()});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("experiment: 'my probe' can not name a folder"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(New, SaysWhichRecipesThereAre) {
  EXPECT_THAT(run_jari({"new", "--list"}).out, HasSubstr("quickstart"));
  const Output output = run_jari({"new", "x", "--from", "quickstrat"});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, StartsWith("error: no recipe 'quickstrat' (did you mean 'quickstart'?); known: "));
}

TEST(New, SaysWhereItCanNotWrite) {
  const Output output = run_jari({"new", "/nowhere/at/all/x.yaml"});
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.err,
            "error: /nowhere/at/all/x.yaml: can not write: No such file or directory; make the folder first, or "
            "correct the path\n");
}

}  // namespace
}  // namespace jari
