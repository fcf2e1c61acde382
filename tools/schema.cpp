// jari schema: JSON Schema of a spec, for editors.

#include "framework/registry/schema.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

class SchemaCommand final : public Command {
 public:
  const char* name() const override { return "schema"; }
  const char* summary() const override { return "JSON Schema of a spec, from the components that are there"; }
  void options(CommandOptions& options) override {
    options.list("--plugin", plugins_, "a loadable module whose components count too");
  }
  int run() override;

 private:
  std::vector<std::string> plugins_;
};

int SchemaCommand::run() {
  const Registry registry = registry_with(plugins_);
  fmt::print("{}\n", schema_of(describe_fields<Experiment>(), registry, "jari spec").dump(2));
  return 0;
}

}  // namespace

CommandPtr schema_command() { return std::make_unique<SchemaCommand>(); }

}  // namespace jari
