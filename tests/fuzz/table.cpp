// Readers of word tables: the first byte says which, the rest is the file. What is read is written and read the same.

#include <optional>

#include "framework/base/error.hpp"
#include "framework/table/table_file.hpp"
#include "tests/fuzz/expect.hpp"
#include "tests/fuzz/sealed_file.hpp"

namespace jari::fuzz {
namespace {

bool are_equal(const WordTable& left, const WordTable& right) {
  if (left.size() != right.size() || left.width() != right.width()) return false;
  for (std::int64_t row = 0; row < left.size(); ++row) {
    if (left.word(row) != right.word(row)) return false;
    for (std::size_t i = 0; i < left.row(row).size(); ++i)
      if (left.row(row)[i] != right.row(row)[i]) return false;
  }
  return true;
}

void check(const std::string& format, std::string_view bytes) {
  TableOptions options;
  options.format = table_format_named(format);
  options.escape_invalid_utf8 = bytes.size() % 2 == 0;
  std::optional<LoadedTable> loaded;
  try {
    loaded.emplace(read_table(write_scratch("table", bytes), options));
  } catch (const StoreError&) {
    return;
  }
  const std::filesystem::path again = write_scratch("again.npz", "");
  try {
    write_table(again, loaded->table, TableFormat::npz);
  } catch (const StoreError&) {
    return;
  }
  expect(are_equal(loaded->table, read_table(again).table), "what was read is written and read the same");
}

}  // namespace
}  // namespace jari::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string formats[] = {"", "word2vec", "word2vec_text", "glove", "npy", "npz", "safetensors", "tsv"};
  jari::fuzz::check(formats[data[0] % 8], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
