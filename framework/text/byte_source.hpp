#pragma once
// The bytes of a file, unpacked: plain, gzip or zstd, told apart by their first bytes. Memory does not grow with the
// file.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace jari {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills a part of `out` (not empty); returns its bytes, 0 only at the end. StoreError where the file can not be read,
  // is damaged or cut short, with the offset in the unpacked bytes.
  virtual std::size_t read(std::span<char> out) = 0;
};

// StoreError if the file is missing, a folder, not readable, or of a kind that is known but not read (xz, bzip2, zip).
// `block`: bytes read from the disk at a time.
std::unique_ptr<ByteSource> open_byte_source(const std::filesystem::path& path,
                                             std::size_t block = std::size_t{1} << 17);

}  // namespace jari
