// jari schema: JSON Schema of a spec, for editors.

#include "framework/registry/schema.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "framework/registry/plugin_loader.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {

int schema_command(const std::vector<std::string>& plugins) {
  Registry registry = builtin_registry();
  for (const std::string& plugin : plugins) load_plugin(plugin, registry);
  fmt::print("{}\n", schema_of(describe_fields<Experiment>(), registry, "jari spec").dump(2));
  return 0;
}

}  // namespace jari
