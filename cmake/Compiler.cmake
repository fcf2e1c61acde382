# `jari_options`: what every target of ours is compiled with. No global flags.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(JARI_CCACHE ccache)
if(JARI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${JARI_CCACHE})
endif()

add_library(jari_options INTERFACE)
target_compile_features(jari_options INTERFACE cxx_std_20)
# No -ffast-math: sums keep the order that the source gives them, but for the loops that ask by `#pragma omp simd reduction`.
# GCC does contract a * b + c into a fused multiply-add where the CPU has one, as it does by default. Vector body and tail
# of a loop are contracted alike, so bits do not depend on where a thread's part begins; they do depend on JARI_NATIVE.
target_compile_options(jari_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
                                              -fopenmp-simd -fvisibility-inlines-hidden)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of its own AVX-512 intrinsics, whose results begin undefined on purpose (GCC bug 105593).
  target_compile_options(jari_options INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized)
endif()
if(JARI_WERROR)
  target_compile_options(jari_options INTERFACE -Werror)
endif()
if(JARI_NATIVE)
  target_compile_options(jari_options INTERFACE -march=native)
endif()
if(JARI_SANITIZE)
  target_compile_options(jari_options INTERFACE -fsanitize=${JARI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(jari_options INTERFACE -fsanitize=${JARI_SANITIZE})
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
