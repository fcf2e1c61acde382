// The text form of word2vec.c: a header, then a line a word.

#include <fmt/format.h>

#include "framework/table/formats.hpp"

namespace jari {

LoadedTable read_word2vec_text(InputFile& source, const TableOptions& options) {
  const Word2vecHeader header = read_word2vec_header(source, /*is_text=*/true);
  TableBuilder builder(source, options, header.rows, header.width);
  std::string_view line;
  for (;;) {
    const std::uint64_t offset = source.offset();
    if (!source.read_line(line)) break;
    if (line.empty() && source.peek(1).empty()) break;
    if (builder.seen() == header.rows) {
      source.fail(fmt::format("its header promises {} rows, but there are more lines after them, from byte {} on",
                              header.rows, offset));
    }
    add_text_row(builder, source, line, offset, header.width, Spaces::end_a_word);
  }
  if (builder.seen() < header.rows) {
    source.fail(fmt::format("cut short: its header promises {} rows, but it ends after {}, at byte {}", header.rows,
                            builder.seen(), source.offset()));
  }
  return builder.finish();
}

void write_word2vec_text(OutputFile& file, const WordTable& table) {
  refuse_in_words(file, table, " \t\n", "in word2vec's format a space ends the word");
  file.write(fmt::format("{} {}\n", table.size(), table.width()));
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
