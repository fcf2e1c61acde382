# Components as loadable modules. Installed too, so it serves projects that have called find_package(jari).

# What a module and the program must agree on, since C++ types cross between them: jari's version and the headers that
# components see (jari_API_HASH) and the compiler. JARI_BUILD_ID overrides it, for tests.
function(jari_build_id result)
  set(id "${JARI_BUILD_ID}")
  if(NOT id)
    string(TOLOWER "${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION}" compiler)
    set(id "jari-${jari_VERSION}-${jari_API_HASH}-${compiler}")
  endif()
  set(${result} "${id}" PARENT_SCOPE)
endfunction()

# jari_add_plugin_module(<name> <source>): the module lib<name>.so of one component's source, for `plugins: [./lib<name>.so]`
# in a spec. It links nothing of jari: the program that loads it has the one registry and all that a component calls.
function(jari_add_plugin_module name source)
  jari_build_id(build_id)
  add_library(${name} MODULE ${source})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE JARI_PLUGIN_MODULE JARI_PLUGIN_ID=${name} JARI_BUILD_ID="${build_id}"
                                             $<TARGET_PROPERTY:jari::component,INTERFACE_COMPILE_DEFINITIONS>)
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:jari::component,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:jari_options>)  # there in jari's own tree only
endfunction()
