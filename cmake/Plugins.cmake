# Components under plugins/<family>/<name>.cpp. Each file has one JARI_PLUGIN block; the build gives it its id from its path
# and generates the calls, so nothing depends on the order of static initialization and no list is kept by hand.
include(PluginModule)

# jari_hash_files(<variable> <digits> <files>): of their contents; when one changes, the build is configured anew.
function(jari_hash_files variable digits)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(hashes "")
  foreach(file IN LISTS ARGN)
    file(SHA256 ${file} hash)
    string(APPEND hashes ${hash})
  endforeach()
  string(SHA256 hash "${hashes}")
  string(SUBSTRING ${hash} 0 ${digits} hash)
  set(${variable} ${hash} PARENT_SCOPE)
endfunction()

# jari_API_HASH: of every header that a component can reach through framework/plugin_api.hpp. Part of the build id, so that
# a module built against other headers is refused rather than crashing.
function(jari_hash_api)
  set(headers ${PROJECT_SOURCE_DIR}/framework/plugin_api.hpp)
  foreach(layer base table spec registry graph ops text component)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/framework/${layer}/*.hpp ${PROJECT_SOURCE_DIR}/framework/${layer}/*.def)
    list(APPEND headers ${found})
  endforeach()
  jari_hash_files(hash 8 ${headers})
  set(jari_API_HASH ${hash} PARENT_SCOPE)
endfunction()
jari_hash_api()

# jari_builtin_plugins(<folder>): the library jari_plugins of all components under a folder.
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
  jari_build_id(build_id)
  set(generated ${PROJECT_BINARY_DIR}/builtin_plugins.cpp ${PROJECT_BINARY_DIR}/build_id.cpp)
  file(CONFIGURE OUTPUT builtin_plugins.cpp @ONLY CONTENT
"#include \"framework/registry/registry.hpp\"
@declarations@
namespace jari {
void register_builtin_plugins(Registry& registry) {
@calls@}
}  // namespace jari
")
  # A source of its own: it changes with every header that a component sees.
  file(CONFIGURE OUTPUT build_id.cpp @ONLY CONTENT
"namespace jari {
const char* build_id() { return \"@build_id@\"; }
}  // namespace jari
")
  target_sources(jari_plugins PRIVATE ${generated})
  target_link_libraries(jari_plugins PUBLIC jari::component PRIVATE $<BUILD_INTERFACE:jari_options>)
endfunction()

# jari_loads_modules(<program>): makes a program (or a test) one that can load modules: it carries the layers that
# components use whole, whether it calls them or not, and shows their symbols to what it loads.
function(jari_loads_modules program)
  set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON)
  set_property(TARGET ${program} PROPERTY LINK_LIBRARY_OVERRIDE
    "WHOLE_ARCHIVE,jari_base,jari_table,jari_spec,jari_registry,jari_graph,jari_ops,jari_text,jari_component")
endfunction()
