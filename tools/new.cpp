// jari new [NAME|PATH]: a spec to start from.

#include <fmt/format.h>

#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/base/table.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/sweep/sweep.hpp"
#include "tools/commands.hpp"
#include "tools/recipes.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

class NewCommand final : public Command {
 public:
  const char* name() const override { return "new"; }
  const char* summary() const override { return "write a spec to start from"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  std::string target_;
  std::string from_ = "quickstart";
  bool list_ = false;
};

void NewCommand::options(CommandOptions& options) {
  options.argument("name", target_,
                   "of the experiment and the file NAME.yaml, or the file's path; the recipe's if not given",
                   /*is_needed=*/false);
  options.option("--from", from_, "the recipe to copy");
  options.flag("--list", list_, "list the recipes");
}

void print_recipes() {
  TextTable table({{"recipe"}, {"question"}});
  for (const Recipe& recipe : recipes()) table.add_row({recipe.name, recipe.description});
  fmt::print("{}", table.text());
}

// A name that can not be a folder's is told now, not by the first `jari run`.
void check(const std::string& text, const std::string& path) {
  Diagnostics diagnostics;
  const SpecNode spec = read_yaml_text(text, path, diagnostics);
  diagnostics.throw_if_any();
  make_sweep(spec, builtin_registry(), diagnostics);
  diagnostics.throw_if_any();
}

// What the recipe reads, beside the spec. A file that is there already stays.
void write_samples(const std::vector<RecipeFile>& samples, const std::filesystem::path& folder) {
  for (const RecipeFile& sample : samples) {
    const std::filesystem::path path = folder / sample.path;
    if (std::filesystem::exists(path)) continue;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);  // what is wrong shows when the file is written
    write_file_atomically(path, sample.text);
  }
}

int NewCommand::run() {
  if (list_) {
    print_recipes();
    return 0;
  }
  std::filesystem::path path = target_.empty() ? from_ : target_;
  if (path.extension() != ".yaml" && path.extension() != ".yml") path += ".yaml";
  const std::string text = recipe_text(from_, path.stem().string());
  if (std::filesystem::exists(path)) {
    throw StoreError(fmt::format("{}: is there already; name another file, or remove it", path.string()));
  }
  const std::vector<RecipeFile> samples = samples_of(text);
  write_samples(samples, path.parent_path());
  check(text, path.string());
  write_file_atomically(path, text);
  fmt::print("{}: written, from the recipe {}\n", path.string(), from_);
  for (const RecipeFile& sample : samples) fmt::print("{}: read by it\n", (path.parent_path() / sample.path).string());
  fmt::print(stderr, "next: jari check {0}, then jari run {0}\n", path.string());
  return 0;
}

}  // namespace

CommandPtr new_command() { return std::make_unique<NewCommand>(); }

}  // namespace jari
