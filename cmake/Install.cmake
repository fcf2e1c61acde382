# Install, and find_package(jari): jari::<layer>, jari::plugins, the program jari::jari and jari_add_plugin_module.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/jari)

get_property(layers GLOBAL PROPERTY JARI_LAYERS)
install(TARGETS ${layers} jari_plugins EXPORT jari ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET jari)
  install(TARGETS jari EXPORT jari RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET jari_cuda)
  install(TARGETS jari_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/jari)
endif()
install(DIRECTORY framework DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/jari FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/jari)

install(EXPORT jari NAMESPACE jari:: FILE jariTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/jariConfig.cmake.in jariConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(jariConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/jariConfig.cmake ${PROJECT_BINARY_DIR}/jariConfigVersion.cmake cmake/Dependencies.cmake
              cmake/PluginModule.cmake
        DESTINATION ${package})
