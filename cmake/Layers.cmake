# jari_add_layer(<name> [DEPENDS ...] [PRIVATE_DEPENDS ...]): the static library jari_<name> (jari::<name>) of all sources
# under framework/<name>/.
function(jari_add_layer name)
  cmake_parse_arguments(LAYER "" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/framework/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/backend/cuda/")  # a module of its own
  add_library(jari_${name} STATIC ${sources})
  add_library(jari::${name} ALIAS jari_${name})
  set_target_properties(jari_${name} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(jari_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/jari>)
  target_link_libraries(jari_${name} PUBLIC ${LAYER_DEPENDS} PRIVATE ${LAYER_PRIVATE_DEPENDS} $<BUILD_INTERFACE:jari_options>)
  target_compile_features(jari_${name} PUBLIC cxx_std_20)
  set_property(GLOBAL APPEND PROPERTY JARI_LAYERS jari_${name})  # for the installation
endfunction()

# jari_add_test(<layer> [LIBRARIES ...] [SOURCES ...]): the binary test_<layer> of all *.cpp under tests/<layer>/, or of the
# sources named, its cases known to ctest.
function(jari_add_test layer)
  cmake_parse_arguments(TEST "" "" "LIBRARIES;SOURCES" ${ARGN})
  if(NOT TEST_SOURCES)
    file(GLOB TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${layer}/*.cpp)
  endif()
  add_executable(test_${layer} ${TEST_SOURCES})
  target_link_libraries(test_${layer} PRIVATE ${TEST_LIBRARIES} jari_options test_support GTest::gmock GTest::gtest_main)
  target_include_directories(test_${layer} PRIVATE ${PROJECT_SOURCE_DIR})
  # What is tested is compiled as it always is; the tests themselves are many and run once.
  target_compile_options(test_${layer} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_precompile_headers(test_${layer} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  gtest_discover_tests(test_${layer} PROPERTIES LABELS ${layer} DISCOVERY_TIMEOUT 60)
endfunction()

# Debian's Python first: it is the one that has the packages of cmake/packages.txt (h5py, NumPy), whatever stands before it
# in the PATH.
find_program(JARI_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(JARI_PYTHON python3)

# jari_add_script_test(<name> <script> [arguments ...]): a test written in Python.
function(jari_add_script_test name script)
  if(JARI_PYTHON)
    add_test(NAME ${name} COMMAND ${JARI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  else()
    message(STATUS "no python3: the test ${name} is left out")
  endif()
endfunction()
