#pragma once
// Paths and temporary folders for tests.

#include <filesystem>
#include <string>

namespace jari::test {

// A file of the source tree: source_path("tests/golden/probe.json").
std::filesystem::path source_path(const std::string& relative);

std::string read_text(const std::filesystem::path& path);

// A fresh folder, removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace jari::test
