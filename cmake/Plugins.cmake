# Components under plugins/<family>/<name>.cpp. Each file has one JARI_PLUGIN block; the build gives it its id from its path
# and generates the calls, so nothing depends on the order of static initialisation and no list is kept by hand.

# Compiler, standard library, jari version and the flags that change layouts: a module built otherwise is refused.
set(JARI_BUILD_ID "jari-${PROJECT_VERSION}-gcc-${CMAKE_CXX_COMPILER_VERSION}-cxx20-abi1")

function(jari_builtin_plugins folder)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*/*.cpp)
  set(declarations "")
  set(calls "")
  add_library(jari_plugins STATIC)
  add_library(jari::plugins ALIAS jari_plugins)
  set_target_properties(jari_plugins PROPERTIES EXPORT_NAME plugins)
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "\\.cpp$" "" id ${source})
    string(REPLACE "/" "_" id ${id})
    set_source_files_properties(${folder}/${source} PROPERTIES COMPILE_DEFINITIONS JARI_PLUGIN_ID=${id})
    target_sources(jari_plugins PRIVATE ${folder}/${source})
    string(APPEND declarations "void jari_register_${id}(jari::Registry&);\n")
    string(APPEND calls "  jari_register_${id}(registry);\n")
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/builtin_plugins.cpp)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT
"#include \"framework/registry/registry.hpp\"
@declarations@
namespace jari {
void register_builtin_plugins(Registry& registry) {
@calls@}
const char* build_id() { return \"@JARI_BUILD_ID@\"; }
}  // namespace jari
")
  target_sources(jari_plugins PRIVATE ${generated})
  target_link_libraries(jari_plugins PUBLIC jari::component PRIVATE $<BUILD_INTERFACE:jari_options>)
endfunction()
