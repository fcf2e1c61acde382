#pragma once
// A file's bytes as memory, read from the disk when they are looked at and shared with all who map it.

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace jari {

class MappedFile {
 public:
  // StoreError if it can not be read. An empty file has no bytes.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }
  // Gives back the memory of the first `size` bytes, which are read again when they are looked at.
  void release(std::size_t size) const;

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace jari
