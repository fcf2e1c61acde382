#pragma once
// A file that is written whole or not at all: under a temporary name, renamed by commit(). gzip if its name ends in
// .gz.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace jari {

class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();  // removes what was not committed
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void commit();
  const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  struct Deflater;
  std::unique_ptr<Deflater> deflater_;  // null: written as it is
  std::string buffer_;
};

}  // namespace jari
