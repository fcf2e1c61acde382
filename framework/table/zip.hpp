#pragma once
// Zip files as NumPy writes and reads them: members stored or deflated, no zip64 (PKWARE APPNOTE 6.3.10).

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/table/input_file.hpp"
#include "framework/table/output_file.hpp"

namespace jari {

struct ZipMember {
  std::string name;
  bool is_deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0, bytes = 0;
  std::uint64_t offset = 0;  // of its local header
};

// In the order of the central directory. StoreError if there is none, or for a zip64 file.
std::vector<ZipMember> zip_members(const std::filesystem::path& path);

// Its bytes, unpacked; the checksum is compared at the last of them.
InputFile open_member(const std::filesystem::path& path, const ZipMember& member);

class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& file) : file_(file) {}
  // Deflated. StoreError from 4 GiB on, which would need zip64.
  void add(const std::string& name, const std::vector<std::string_view>& parts);
  void finish();  // writes the directory

 private:
  OutputFile& file_;
  std::vector<ZipMember> members_;
  std::uint64_t offset_ = 0;
};

}  // namespace jari
