// The binary form of word2vec.c (Mikolov and others 2013), as word2vec, gensim and fastText write it.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "framework/table/formats.hpp"

namespace jari {
namespace {

static_assert(std::endian::native == std::endian::little, "rows are copied as they are");

constexpr std::size_t kLongestWord = 1 << 16;

bool parse_count(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

// The word of the next row, with the line end of the row before; what is peeked at holds the whole row.
std::string_view peek_word(InputFile& source, std::int64_t row, std::size_t row_bytes) {
  for (std::size_t size = 256;; size *= 2) {
    const std::string_view window = source.peek(size + row_bytes);
    const std::size_t space = window.substr(0, std::min(size, window.size())).find(' ');
    if (space != std::string_view::npos) return window.substr(0, space);
    if (window.size() < size + row_bytes) {
      source.fail(
          fmt::format("cut short: row {} ends at byte {}, before its numbers", row, source.offset() + window.size()));
    }
    if (size > kLongestWord) {
      source.fail(
          fmt::format("row {} (byte {}) has no space after its word: this is no word2vec file, or its header is "
                      "wrong about the width",
                      row, source.offset()));
    }
  }
}

}  // namespace

Word2vecHeader read_word2vec_header(InputFile& source, bool is_text) {
  std::string_view line;
  source.read_line(line);
  Word2vecHeader header;
  const std::size_t space = line.find(' ');
  std::string_view after = space == std::string_view::npos ? "" : line.substr(space + 1);
  while (after.ends_with(' ')) after.remove_suffix(1);
  if (space == std::string_view::npos || !parse_count(line.substr(0, space), header.rows) ||
      !parse_count(after, header.width) || header.width < 1) {
    source.fail(fmt::format("its first line should hold the numbers of rows and columns (\"20000 100\"), not '{}'",
                            escaped_utf8(line.substr(0, 60))));
  }
  // A word of one byte and a separator at least; in text a digit and a separator a number.
  const auto width = static_cast<std::uint64_t>(header.width), rows = static_cast<std::uint64_t>(header.rows);
  const std::uint64_t number_bytes = is_text ? 2 : sizeof(float), left = source.most_left() + 1;
  if (width > left / number_bytes || rows > left / (width * number_bytes + 1)) {
    source.fail(fmt::format("its header promises {} rows of {} numbers, which the {} bytes after it can not hold", rows,
                            width, source.is_packed() ? "packed" : std::to_string(source.most_left())));
  }
  return header;
}

LoadedTable read_word2vec(InputFile& source, const TableOptions& options) {
  const Word2vecHeader header = read_word2vec_header(source, /*is_text=*/false);
  const std::size_t row_bytes = static_cast<std::size_t>(header.width) * sizeof(float);
  TableBuilder builder(source, options, header.rows, header.width);
  for (std::int64_t row = 0; row < header.rows; ++row) {
    while (source.peek(1) == "\n") source.skip(1);
    const std::uint64_t offset = source.offset();
    std::string_view rest = source.peek(256 + row_bytes);
    if (rest.empty()) {
      source.fail(fmt::format("cut short: its header promises {} rows, but it ends after {}, at byte {}", header.rows,
                              row, offset));
    }
    const std::size_t length = peek_word(source, row, row_bytes).size();
    rest = source.peek(length + 1 + row_bytes);
    if (rest.size() < length + 1 + row_bytes) {
      source.fail(fmt::format("cut short: row {} ('{}', byte {}) should take {} bytes, and {} are left", row,
                              escaped_utf8(rest.substr(0, length)), offset, length + 1 + row_bytes, rest.size()));
    }
    std::memcpy(builder.next_row().data(), rest.data() + length + 1, row_bytes);
    builder.add(rest.substr(0, length), offset);
    source.skip(length + 1 + row_bytes);
  }
  while (source.peek(1) == "\n") source.skip(1);
  if (!source.peek(1).empty()) {
    source.fail(fmt::format("its header promises {} rows, but there are more bytes after them, from byte {} on",
                            header.rows, source.offset()));
  }
  return builder.finish();
}

void write_word2vec(OutputFile& file, const WordTable& table) {
  refuse_in_words(file, table, " \n", "in word2vec's format a space ends the word");
  file.write(fmt::format("{} {}\n", table.size(), table.width()));
  for (std::int64_t row = 0; row < table.size(); ++row) {
    const std::span<const float> values = table.row(row);
    file.write(table.word(row));
    file.write(" ");
    file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    file.write("\n");
  }
}

}  // namespace jari
