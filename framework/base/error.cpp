#include "framework/base/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace jari {

void fail_assertion(const char* condition, const char* file, int line, const std::string& message) {
  std::fprintf(stderr, "%s:%d: internal error: %s (%s). Please report it.\n", file, line, message.c_str(), condition);
  std::abort();
}

}  // namespace jari
