#pragma once
// The starting specs of `jari new`: the files under configs/, held in the program itself.

#include <string>
#include <string_view>
#include <vector>

namespace jari {

// A file under configs/: "quickstart.yaml", "base/probe.yaml", "samples/ko_small.txt".
struct RecipeFile {
  std::string_view path;
  std::string_view text;
};

// Written by the build from configs/ (tools/CMakeLists.txt).
const std::vector<RecipeFile>& recipe_files();

struct Recipe {
  std::string name;         // "quickstart"
  std::string description;  // what the spec says of itself
};

// By name; the parents that others extend (configs/base/) are none.
std::vector<Recipe> recipes();

// The text of a recipe as a spec of its own: what its parents say is put in the place of `extends`, comments stay, and
// the experiment bears `name`. SpecError if there is no such recipe.
std::string recipe_text(const std::string& recipe, const std::string& name);

// The samples that a recipe's text names.
std::vector<RecipeFile> samples_of(std::string_view text);

}  // namespace jari
