#pragma once
// Where programs keep what they can make again.

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace jari::test {

// A cache of a test's own while it lives; then what was there before.
class CacheHome {
 public:
  explicit CacheHome(const std::filesystem::path& folder) {
    if (const char* before = std::getenv(kVariable)) before_ = before;
    setenv(kVariable, folder.c_str(), 1);
  }
  ~CacheHome() {
    if (before_) {
      setenv(kVariable, before_->c_str(), 1);
    } else {
      unsetenv(kVariable);
    }
  }
  CacheHome(const CacheHome&) = delete;
  CacheHome& operator=(const CacheHome&) = delete;

 private:
  static constexpr const char* kVariable = "XDG_CACHE_HOME";
  std::optional<std::string> before_;
};

}  // namespace jari::test
