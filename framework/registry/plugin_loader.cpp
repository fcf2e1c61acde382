#include "framework/registry/plugin_loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/registry/plugin.hpp"
#include "framework/registry/registry.hpp"

namespace jari {

void load_plugin(const std::string& path, Registry& registry) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw PluginError(fmt::format("can not load the module '{}': there is no such file", path));
  }
  // An absolute path, because dlopen looks a bare name up in the system's folders.
  void* module = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw PluginError(fmt::format("can not load the module '{}': {}", path, dlerror()));
  const auto* descriptor = static_cast<const PluginDescriptor*>(dlsym(module, kPluginSymbol));
  if (descriptor == nullptr) {
    throw PluginError(
        fmt::format("'{}' is a shared object, but no module of jari: it has no symbol '{}'. Does its "
                    "source have a JARI_PLUGIN block, and was it built with jari_add_plugin_module?",
                    path, kPluginSymbol));
  }
  if (descriptor->abi != kPluginAbi) {
    throw PluginError(fmt::format("the module '{}' has plugin ABI {}, and this jari has {}. Build it again.", path,
                                  descriptor->abi, kPluginAbi));
  }
  if (std::string(descriptor->build_id) != build_id()) {
    throw PluginError(
        fmt::format("the module '{}' was built for another jari:\n  module: {}\n  jari:   {}\nBuild it "
                    "again with this jari.",
                    path, descriptor->build_id, build_id()));
  }
  registry.set_source(path);
  descriptor->add_to(registry);
  registry.set_source(Registry::kBuiltIn);
}

}  // namespace jari
