// GloVe's text (Pennington, Socher and Manning 2014): a line a word, no header. In the 840B set some words hold spaces,
// so lines are split from the right, by the width.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "framework/table/formats.hpp"

namespace jari {
namespace {

// How many fields at the end of a line are numbers.
std::int64_t numbers_at_end(std::string_view line) {
  std::int64_t count = 0;
  for (;;) {
    const std::optional<TextRow> last = split_row(line, 1);
    float ignored = 0;
    if (!last || !parse_numbers(last->numbers, {&ignored, 1}).empty()) return count;
    ++count;
    line = last->word;
  }
}

// Words may be numbers, or end with one; the shortest of the first lines tells the width.
std::int64_t width_of(InputFile& source) {
  constexpr std::size_t kLook = 1 << 16, kLines = 64;
  std::string_view head = source.peek(kLook);
  const bool is_whole = head.size() < kLook;
  std::int64_t width = std::numeric_limits<std::int64_t>::max();
  for (std::size_t lines = 0; lines < kLines && !head.empty(); ++lines) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && !is_whole && lines > 0) break;
    std::string_view line = head.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    width = std::min(width, numbers_at_end(line));
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
  }
  if (width < 1 || width == std::numeric_limits<std::int64_t>::max())
    source.fail("holds no lines of a word and numbers; name its format with --table-format");
  return width;
}

}  // namespace

LoadedTable read_glove(InputFile& source, const TableOptions& options) {
  const std::int64_t width = width_of(source);
  // Rows are not counted anywhere: memory for as many as there can be if lines are as long as usual.
  constexpr std::uint64_t kUsualNumber = 8;
  const std::uint64_t guess = source.most_left() / (static_cast<std::uint64_t>(width) * kUsualNumber) + 1;
  TableBuilder builder(source, options, static_cast<std::int64_t>(guess), width);
  std::string_view line;
  for (;;) {
    const std::uint64_t offset = source.offset();
    if (!source.read_line(line)) break;
    if (line.empty() && source.peek(1).empty()) break;
    add_text_row(builder, source, line, offset, width, Spaces::may_be_in_words);
  }
  return builder.finish();
}

void write_glove(OutputFile& file, const WordTable& table) {
  refuse_in_words(file, table, "\t\n", "in GloVe's format a word is a part of a line");
  std::string line;
  for (std::int64_t row = 0; row < table.size(); ++row) {
    line = table.word(row);
    for (const float value : table.row(row)) {
      line += ' ';
      append_number(line, value);
    }
    file.write(line += '\n');
  }
}

}  // namespace jari
