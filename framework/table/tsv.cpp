// The TensorBoard projector's two files: numbers, one row a line, and beside them words (with counts: two columns, and
// then, as the projector wants it, a header).

#include <fmt/format.h>

#include <algorithm>

#include "framework/table/formats.hpp"

namespace jari {

LoadedTable read_tsv(InputFile& source, const TableOptions& options) {
  std::string_view line;
  const bool has_lines = source.read_line(line);
  const std::int64_t width = count_fields(line);
  if (!has_lines || width < 1) source.fail("is empty");
  // A digit and a separator a number at least; a wide line promises few of its kind.
  constexpr std::uint64_t kFirstRows = 1 << 12;
  const std::uint64_t most_rows = source.most_left() / (2 * static_cast<std::uint64_t>(width)) + 1;
  RowMatrix rows(static_cast<std::int64_t>(std::min(kFirstRows, most_rows)), width);
  std::int64_t count = 0;
  std::uint64_t offset = 0;
  do {
    if (line.empty() && source.peek(1).empty()) break;
    if (count == rows.rows()) rows.resize(count + count / 2 + 1);
    const std::string wrong = parse_numbers(line, rows.row(count));
    if (!wrong.empty()) source.fail(fmt::format("row {} (byte {}): {}", count, offset, wrong));
    ++count;
    offset = source.offset();
  } while (source.read_line(line));
  rows.resize(count);
  return with_words(source, TableFormat::tsv, std::move(rows), options);
}

void write_tsv(OutputFile& file, const WordTable& table) {
  std::string line;
  for (std::int64_t row = 0; row < table.size(); ++row) {
    line.clear();
    for (const float value : table.row(row)) {
      if (!line.empty()) line += '\t';
      append_number(line, value);
    }
    file.write(line += '\n');
  }
}

}  // namespace jari
