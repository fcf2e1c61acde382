#pragma once
// The one registration block of a component's file:
//
//   JARI_PLUGIN(registry) { registry.add<Position, Alibi, AlibiParameters>("alibi", "linear distance bias per head"); }
//
// Built into the program it is an ordinary function that the build generates a call of; built as a loadable module it
// is one exported descriptor. JARI_PLUGIN_ID comes from the build, so that a file names itself once.

namespace jari {

class Registry;

struct PluginDescriptor {
  unsigned abi;
  const char* build_id;
  void (*add_to)(Registry&);
};
inline constexpr unsigned kPluginAbi = 1;
inline constexpr const char* kPluginSymbol = "jari_plugin";

}  // namespace jari

#define JARI_JOIN_(a, b) a##b
#define JARI_JOIN(a, b) JARI_JOIN_(a, b)
#define JARI_REGISTER_ JARI_JOIN(jari_register_, JARI_PLUGIN_ID)

#ifdef JARI_PLUGIN_MODULE
#define JARI_PLUGIN(registry)                                                                     \
  static void JARI_REGISTER_(::jari::Registry&);                                                  \
  extern "C" __attribute__((visibility("default")))                                               \
  const ::jari::PluginDescriptor jari_plugin{::jari::kPluginAbi, JARI_BUILD_ID, &JARI_REGISTER_}; \
  static void JARI_REGISTER_(::jari::Registry& registry)
#else
#define JARI_PLUGIN(registry)             \
  void JARI_REGISTER_(::jari::Registry&); \
  void JARI_REGISTER_(::jari::Registry& registry)
#endif
