#pragma once
// What a fuzz target does where a promise is broken: it stops the program, so that the fuzzer keeps the input.

#include <cstdio>
#include <cstdlib>
#include <string>

namespace jari::fuzz {

inline void expect(bool holds, const std::string& promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise.c_str());
  std::abort();
}

}  // namespace jari::fuzz
