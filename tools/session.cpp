#include "tools/session.hpp"

#include "framework/train/device_choice.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "framework/backend/kernel.hpp"
#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/version.hpp"
#include "framework/registry/plugin_loader.hpp"
#include "framework/spec/compose.hpp"
#include "framework/store/hdf5_file.hpp"

namespace jari {
namespace {

void load_plugins(const SpecArguments& arguments, Session& session) {
  const SpecNode* plugins = session.spec.find("plugins");
  if (plugins == nullptr || !plugins->is_sequence()) return;
  const std::filesystem::path folder = std::filesystem::path(arguments.path).parent_path();
  for (const SpecNode& item : plugins->items) {
    if (!item.is_scalar()) continue;  // told when the spec is bound
    try {
      load_plugin((folder / item.text).string(), session.registry);
    } catch (const PluginError& error) {
      session.diagnostics.error(item.span, "plugins", error.what());
    }
  }
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Commit of the git checkout that the spec lies in, "-dirty" if files differ from it; "" if there is none.
std::string git_commit(const std::string& folder) {
  const std::string command =
      fmt::format("git -C '{}' describe --always --dirty --abbrev=12 2>/dev/null", folder.empty() ? "." : folder);
  if (folder.find('\'') != std::string::npos) return "";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return "";
  std::array<char, 128> line{};
  if (std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return "";
  std::string commit = line.data();
  while (!commit.empty() && commit.back() == '\n') commit.pop_back();
  return commit;
}

}  // namespace

void SpecArguments::options(CommandOptions& options) {
  options.argument("spec", path, "the YAML spec");
  options.arguments("overrides", overrides, "KEY=VALUE, as strict as the file", /*is_needed=*/false);
}

Registry builtin_registry() {
  Registry registry;
  register_builtin_plugins(registry);
  return registry;
}

Registry registry_with(const std::vector<std::string>& plugins) {
  Registry registry = builtin_registry();
  for (const std::string& plugin : plugins) load_plugin(plugin, registry);
  return registry;
}

Session open_spec(const SpecArguments& arguments) {
  Session session{builtin_registry(), {}, {}};
  session.spec = compose_spec(arguments.path, arguments.overrides, session.diagnostics);
  if (!session.spec.is_mapping()) session.diagnostics.throw_if_any();
  load_plugins(arguments, session);
  return session;
}

Sweep checked_sweep(Session& session, const SweepOptions& options) {
  Sweep sweep = make_sweep(session.spec, session.registry, session.diagnostics, options);
  session.diagnostics.throw_if_any();
  return sweep;
}

std::vector<std::pair<std::string, std::string>> environment_here(const Devices& devices) {
  utsname host{};
  uname(&host);
  std::vector<std::pair<std::string, std::string>> environment = {
      {"jari", version()},
      {"build", build_id()},
      {"hdf5", hdf5_version()},
      {"cpu_backend", cpu_backend_version()},
      {"cpu", cpu_description()},
      {"host", host.nodename},
      {"system", fmt::format("{} {} {}", host.sysname, host.release, host.machine)}};
  if (!devices.empty()) {
    const DeviceInfo card = devices.front()->info();
    environment.emplace_back("card", card.name);
    environment.emplace_back("card_libraries", card.libraries);
  }
  return environment;
}

Provenance provenance_of(const SpecArguments& arguments, const SpecNode& spec, const Devices& devices) {
  Provenance provenance;
  provenance.spec_source = read_file(arguments.path);
  provenance.spec_overrides = fmt::format("{}", fmt::join(arguments.overrides, "\n"));
  provenance.git = git_commit(std::filesystem::path(arguments.path).parent_path().string());
  provenance.device = name_of_devices(devices);
  provenance.environment = environment_here(devices);
  if (const SpecNode* plugins = spec.find("plugins")) {
    const std::filesystem::path folder = std::filesystem::path(arguments.path).parent_path();
    for (const SpecNode& plugin : plugins->items) {
      provenance.environment.emplace_back("plugin " + plugin.text,
                                          hash128_hex(read_file((folder / plugin.text).string())));
    }
  }
  return provenance;
}

}  // namespace jari
