#pragma once
// The header of NumPy's .npy format, versions 1.0 to 3.0 (numpy.lib.format).

#include <cstdint>
#include <string>
#include <vector>

#include "framework/table/formats.hpp"
#include "framework/table/input_file.hpp"

namespace jari {

struct NpyHeader {
  char kind = 'f';  // NumPy's: f, i, u, U, S ...
  std::size_t element_bytes = 4;
  bool is_big_endian = false;
  bool by_columns = false;
  std::vector<std::int64_t> shape;
  std::string type;  // as written: "<f4"

  std::int64_t count() const;       // elements; -1: more than can be counted
  ElementType number_type() const;  // of a type that is_number()
  bool is_number() const { return kind == 'f' && (element_bytes == 2 || element_bytes == 4 || element_bytes == 8); }
};

// Reads it; the array's bytes come next. StoreError if it is none, or describes a record.
NpyHeader read_npy_header(InputFile& source);
// After the array: StoreError if bytes follow. Of an archive's member, compares its checksum.
void refuse_more_bytes(InputFile& source);

// Version 1.0, padded to 64 bytes as NumPy does. `type`: "<f4".
std::string npy_header_text(const std::string& type, const std::vector<std::int64_t>& shape);

}  // namespace jari
