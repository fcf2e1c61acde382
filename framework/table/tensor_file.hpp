#pragma once
// Named arrays of a safetensors file (Hugging Face): the length of a JSON header (u64), the header, the arrays' bytes.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/table/input_file.hpp"

namespace jari {

// Of the numbers in a file.
struct ElementType {
  enum class Kind { f16, bf16, f32, f64 } kind = Kind::f32;
  bool is_big_endian = false;
  std::size_t size() const { return kind == Kind::f64 ? 8 : kind == Kind::f32 ? 4 : 2; }
};

struct TensorEntry {
  std::string name, type;  // "F32"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes after the header

  std::string to_string() const;  // "wte.weight F32 (50257, 768)"
};

// The header, which is read and compared with the bytes that follow it. StoreError where it is none.
std::vector<TensorEntry> read_tensor_entries(InputFile& source);

bool has_numbers(const TensorEntry& tensor);  // F16, BF16, F32 or F64
// The type of numbers that fill their bytes exactly; StoreError for other tensors. `wanted`: what is said of its type.
ElementType require_numbers(const InputFile& source, const TensorEntry& tensor, const std::string& wanted);

class TensorFile {
 public:
  explicit TensorFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  const TensorEntry* find(const std::string& name) const;  // null if there is none

  // Row-major.
  std::vector<double> read(const TensorEntry& tensor) const;

 private:
  std::filesystem::path path_;
  std::vector<TensorEntry> tensors_;
};

}  // namespace jari
