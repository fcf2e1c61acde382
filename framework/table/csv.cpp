// For spreadsheets and data frames: word, count if known, the numbers as v0, v1, ... (RFC 4180).

#include <fmt/format.h>

#include "framework/table/formats.hpp"

namespace jari {
namespace {

std::string quoted(std::string_view word) {
  if (word.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(word);
  std::string result = "\"";
  for (const char c : word) {
    if (c == '"') result += '"';
    result += c;
  }
  return result += '"';
}

}  // namespace

void write_csv(OutputFile& file, const WordTable& table) {
  const bool has_counts = !table.counts().empty();
  std::string line = has_counts ? "word,count" : "word";
  for (std::int64_t i = 0; i < table.width(); ++i) line += fmt::format(",v{}", i);
  file.write(line += '\n');
  for (std::int64_t row = 0; row < table.size(); ++row) {
    line = quoted(table.word(row));
    if (has_counts) line += fmt::format(",{}", table.counts()[static_cast<std::size_t>(row)]);
    for (const float value : table.row(row)) {
      line += ',';
      append_number(line, value);
    }
    file.write(line += '\n');
  }
}

}  // namespace jari
