// jari schema: JSON Schema of a spec, for editors.

#include "framework/registry/schema.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "framework/registry/plugin_loader.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {

void add_schema_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("schema", "JSON Schema of a spec, from the components that are there");
  auto plugins = std::make_shared<std::vector<std::string>>();
  command->add_option("--plugin", *plugins, "a loadable module whose components count too");
  command->callback([plugins, &status] {
    Registry registry = builtin_registry();
    for (const std::string& plugin : *plugins) load_plugin(plugin, registry);
    fmt::print("{}\n", schema_of(describe_fields<Experiment>(), registry, "jari spec").dump(2));
    status = 0;
  });
}

}  // namespace jari
