#pragma once
// Real corpora and vectors that lie beside the checkout. Tests that need them skip, with a reason, where there are
// none.

#include <cstdlib>
#include <filesystem>
#include <string>

namespace jari::test {

// A file under $JARI_DATA, or "".
inline std::filesystem::path data_path(const std::string& name) {
  const char* folder = std::getenv("JARI_DATA");
  if (folder == nullptr) return {};
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

}  // namespace jari::test

// The rest of the test needs `path`.
#define JARI_NEEDS_DATA(path) \
  if ((path).empty()) GTEST_SKIP() << "needs real data: set JARI_DATA to the folder that holds it"
