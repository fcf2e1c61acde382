#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/table/formats.hpp"

namespace jari {
namespace {

constexpr std::int64_t kFirstRows = 1 << 14;  // of a packed file

// What a broken file takes for a word may be long, and anything.
std::string shown_word(std::string_view word) {
  constexpr std::size_t kLongest = 60;
  return printable(escaped_utf8(word.substr(0, kLongest))) + (word.size() > kLongest ? "..." : "");
}

}  // namespace

TableBuilder::TableBuilder(const InputFile& source, const TableOptions& options, std::int64_t rows, std::int64_t width)
    : source_(source),
      escapes_(options.escape_invalid_utf8),
      rows_(source.is_packed() ? std::min(rows, kFirstRows) : rows, width) {
  words_.reserve(rows_.rows());
}

std::span<float> TableBuilder::next_row() {
  if (used_ == rows_.rows()) rows_.resize(std::max(kFirstRows, used_ + used_ / 2));
  return rows_.row(used_);
}

void TableBuilder::add(std::string_view word, std::uint64_t offset) {
  const std::int64_t row = seen_++;
  std::string escaped;
  if (!escapes_) {
    refuse_invalid_utf8(source_, row, word, offset);
  } else if (first_invalid_utf8(word)) {
    ++escaped_;
    word = escaped = escaped_utf8(word);
  }
  if (!all_finite(rows_.row(used_))) {
    source_.fail(fmt::format("row {} ('{}', byte {}) holds a number that is not finite (NaN or infinity); take it out",
                             row, shown_word(word), offset));
  }
  if (words_.add(word)) {
    ++used_;
  } else if (repeated_++ == 0) {
    first_repeated_ = fmt::format("'{}' in row {}", word, row);
  }
}

LoadedTable TableBuilder::finish() {
  rows_.resize(used_);
  LoadedTable loaded{WordTable(std::move(words_), std::move(rows_)), {}};
  if (repeated_ > 0) {
    loaded.notes.push_back(fmt::format("{}: {} rows repeat an earlier word and are left out (first: {})",
                                       source_.name(), repeated_, first_repeated_));
  }
  if (escaped_ > 0)
    loaded.notes.push_back(fmt::format("{}: {} words are no UTF-8 and were escaped", source_.name(), escaped_));
  return loaded;
}

std::string escaped_utf8(std::string_view text) {
  std::string result;
  while (const auto invalid = first_invalid_utf8(text)) {
    result += text.substr(0, *invalid);
    result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[*invalid]));
    text.remove_prefix(*invalid + 1);
  }
  return result += text;
}

void refuse_invalid_utf8(const InputFile& source, std::int64_t row, std::string_view word, std::uint64_t offset) {
  const auto invalid = first_invalid_utf8(word);
  if (!invalid) return;
  source.fail(
      fmt::format("the word of row {} is no UTF-8: '{}', byte {} of the file; --escape keeps such words, with \\xNN in "
                  "place of the byte",
                  row, shown_word(word), offset + *invalid));
}

void refuse_in_words(const OutputFile& file, const WordTable& table, std::string_view characters,
                     const std::string& reason) {
  for (std::int64_t row = 0; row < table.size(); ++row) {
    const std::string_view word = table.word(row);
    const std::size_t found = word.find_first_of(characters);
    if (found == std::string_view::npos && !word.empty()) continue;
    const std::string what = word.empty()         ? "is empty"
                             : word[found] == ' ' ? "holds a space"
                                                  : "holds a line end or tab";
    throw StoreError(
        fmt::format("{}: can not be written: the word of row {} ('{}') {}, and {}; npz and csv hold any word",
                    file.path().string(), row, word, what, reason));
  }
}

}  // namespace jari
