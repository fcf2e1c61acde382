#pragma once
// What several subcommands begin with: the components, the spec, the sweep that it declares.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/registry/registry.hpp"
#include "framework/spec/spec_node.hpp"
#include "framework/sweep/sweep.hpp"
#include "framework/train/record.hpp"
#include "tools/command.hpp"

namespace jari {

// A spec on the command line.
struct SpecArguments {
  std::string path;
  std::vector<std::string> overrides;  // KEY=VALUE

  void options(CommandOptions& options);
};

// Built-in components.
Registry builtin_registry();
// And those of loadable modules.
Registry registry_with(const std::vector<std::string>& plugins);

struct Session {
  Registry registry;
  SpecNode spec;  // composed: parents merged, overrides applied
  Diagnostics diagnostics;
};

// Reads the spec and loads its plugins. Throws SpecError if the file can not be understood at all; other mistakes are
// in `diagnostics`.
Session open_spec(const SpecArguments& arguments);

// The whole sweep. Throws SpecError with all mistakes.
Sweep checked_sweep(Session& session, const SweepOptions& options = {});

// Versions of the libraries, the machine, and the card if one is used: what a run file's /environment tells.
using Devices = std::vector<std::shared_ptr<Device>>;
std::vector<std::pair<std::string, std::string>> environment_here(const Devices& devices);

// `spec`: composed, for the hashes of its plugins.
Provenance provenance_of(const SpecArguments& arguments, const SpecNode& spec, const Devices& devices);

}  // namespace jari
