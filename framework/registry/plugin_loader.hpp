#pragma once
// Components from loadable modules: `plugins: [./libmine.so]`.

#include <string>

namespace jari {

class Registry;

// Adds a module's components. The module stays loaded for good, as its code may run at any time from now on. Throws
// PluginError if the file can not be loaded, is no module of jari, or was built against another jari (`build_id()`).
void load_plugin(const std::string& path, Registry& registry);

}  // namespace jari
