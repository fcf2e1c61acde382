// jari components [FAMILY[/NAME]]: what a spec can name. Also writes the reference pages under docs/reference.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/registry/reference.hpp"
#include "framework/store/atomic_file.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

[[noreturn]] void refuse(const std::string& kind, const std::string& name, const std::vector<std::string>& known) {
  const std::optional<std::string> nearest = closest(name, known);
  throw SpecError(fmt::format("error: unknown {} '{}'{}; known: {}\n", kind, name,
                              nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "", fmt::join(known, ", ")));
}

void show(const Registry& registry, const std::string& name) {
  const std::vector<std::string> families = registry.families();
  if (name.empty()) {
    for (const std::string& family : families) fmt::print("{}\n{}\n", family, family_text(registry, family));
    return;
  }
  const std::size_t slash = name.find('/');
  const std::string family = name.substr(0, slash);
  if (std::find(families.begin(), families.end(), family) == families.end()) refuse("family", family, families);
  if (slash == std::string::npos) {
    fmt::print("{}", family_text(registry, family));
    return;
  }
  const RegistryEntry* entry = registry.find(family, name.substr(slash + 1));
  if (entry == nullptr) refuse(family, name.substr(slash + 1), registry.names(family));
  fmt::print("{}", component_text(*entry));
}

constexpr const char* kGenerated = "Written by `jari components --write-reference`; do not edit.";

// docs/reference/spec.md for the top level, <family>.md for each family.
void write_reference(const Registry& registry, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_file_atomically(folder / "spec.md",
                        fmt::format("# The keys of a spec\n\n{}\n\nBlocks that name a component with `type` have that "
                                    "component's keys: see the pages of the families.\n\n{}",
                                    kGenerated, key_table(describe_fields<Experiment>())));
  for (const std::string& family : registry.families()) {
    std::string page = fmt::format("# {}\n\n{}\n\n", family, kGenerated);
    for (const std::string& name : registry.names(family)) page += component_page(*registry.find(family, name)) + "\n";
    while (page.ends_with("\n\n")) page.pop_back();
    write_file_atomically(folder / (family + ".md"), page);
  }
}

class ComponentsCommand final : public Command {
 public:
  const char* name() const override { return "components"; }
  const char* summary() const override { return "list what a spec can name, or show one with its keys"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  std::string component_;  // "", FAMILY or FAMILY/NAME
  std::vector<std::string> plugins_;
  std::string write_reference_;  // folder, or ""
};

void ComponentsCommand::options(CommandOptions& options) {
  options.argument("component", component_, "FAMILY or FAMILY/NAME", /*is_needed=*/false);
  options.list("--plugin", plugins_, "a loadable module whose components count too");
  options.option("--write-reference", write_reference_, "write a page a family into this folder");
}

int ComponentsCommand::run() {
  const Registry registry = registry_with(plugins_);
  if (!write_reference_.empty()) {
    write_reference(registry, write_reference_);
  } else {
    show(registry, component_);
  }
  return 0;
}

}  // namespace

CommandPtr components_command() { return std::make_unique<ComponentsCommand>(); }

}  // namespace jari
