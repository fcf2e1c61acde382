#include "tests/fuzz/sealed_file.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <fstream>
#include <stdexcept>

#include "framework/base/hash.hpp"

namespace jari::fuzz {
namespace {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "jari-fuzz-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("can not make a temporary folder");
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

const std::filesystem::path& scratch_folder() {
  static const ScratchFolder folder;
  return folder.path();
}

std::filesystem::path write_scratch(const std::string& name, std::string_view bytes) {
  std::filesystem::path path = scratch_folder() / name;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("can not write " + path.string());
  return path;
}

std::string with_trailer(std::string_view image) {
  return fmt::format("{}\njari-xxh3-64:{:016x}\n", image, hash64(image));
}

std::string with_line_checksums(std::string_view text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('}')) {
      result += fmt::format("{},\"checksum\":\"{:016x}\"}}\n", line.substr(0, line.size() - 1), hash64(line));
    } else {
      result += fmt::format("{}\n", line);
    }
    begin = end + 1;
  }
  return result;
}

}  // namespace jari::fuzz
