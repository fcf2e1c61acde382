// Words of tables whose format has none.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "framework/base/text.hpp"
#include "framework/table/formats.hpp"

namespace jari {
namespace {

using Json = nlohmann::json;

// GPT-2's byte alphabet (Radford and others 2019): bytes that print stand for themselves, the other 68 for U+0100 on,
// in order. -1: not of the alphabet.
int byte_of(char32_t code_point) {
  const auto prints = [](char32_t c) { return (c >= 0x21 && c <= 0x7E) || (c >= 0xA1 && c <= 0xFF && c != 0xAD); };
  if (code_point < 0x100) return prints(code_point) ? static_cast<int>(code_point) : -1;
  char32_t next = 0x100;
  for (int byte = 0; byte < 0x100; ++byte) {
    if (prints(static_cast<char32_t>(byte))) continue;
    if (next++ == code_point) return byte;
  }
  return -1;
}

std::string without_controls(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result;
}

// The text that a piece of byte-level byte-pair encoding stands for; as it is if a character is not of the alphabet.
std::string decoded(const std::string& piece) {
  std::string bytes;
  for (std::size_t offset = 0; offset < piece.size();) {
    const int byte = byte_of(next_code_point(piece, offset));
    if (byte < 0) return piece;
    bytes += static_cast<char>(byte);
  }
  return without_controls(escaped_utf8(bytes));
}

// {"word": row, ...} in any order, or ["word", ...].
std::vector<std::string> words_of_json(const InputFile& source, const Json& json) {
  std::vector<std::string> words;
  if (json.is_array()) {
    for (const Json& word : json) {
      if (!word.is_string()) source.fail(fmt::format("its entry {} is no text", words.size()));
      words.push_back(word.get<std::string>());
    }
    return words;
  }
  if (!json.is_object()) source.fail("holds neither a JSON object {\"word\": row} nor an array of words");
  words.resize(json.size());
  std::vector<bool> taken(json.size());
  for (const auto& [word, row] : json.items()) {
    const bool fits = row.is_number_unsigned() && row.get<std::uint64_t>() < words.size() &&
                      !taken[static_cast<std::size_t>(row.get<std::uint64_t>())];
    if (!fits) {
      source.fail(
          fmt::format("'{}' has the row {}; rows should be 0 to {}, each once", word, row.dump(), words.size() - 1));
    }
    words[static_cast<std::size_t>(row.get<std::uint64_t>())] = word;
    taken[static_cast<std::size_t>(row.get<std::uint64_t>())] = true;
  }
  return words;
}

std::vector<std::string> read_json_words(InputFile& source) {
  const Json json = Json::parse(source.read_rest(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) source.fail("is no JSON");
  std::vector<std::string> words = words_of_json(source, json);
  // U+0120 is the alphabet's space, and is in no other vocabulary.
  const bool is_byte_level =
      std::any_of(words.begin(), words.end(), [](const std::string& word) { return word.find("\u0120") == 0; });
  if (is_byte_level) std::transform(words.begin(), words.end(), words.begin(), decoded);
  return words;
}

// A word a line; of a TSV file with columns those named "word" and "count", else the first.
std::vector<std::string> read_word_lines(InputFile& source, bool escapes, std::vector<std::int64_t>& counts) {
  std::vector<std::string> words;
  std::string_view line;
  std::size_t count_column = std::string_view::npos;
  bool is_first = true, has_columns = false;
  for (;;) {
    const std::uint64_t offset = source.offset();
    if (!source.read_line(line)) break;
    std::vector<std::string_view> cells;
    for (std::size_t begin = 0;;) {
      const std::size_t tab = line.find('\t', begin);
      cells.push_back(line.substr(begin, tab - begin));
      if (tab == std::string_view::npos) break;
      begin = tab + 1;
    }
    if (is_first) {
      is_first = false;
      has_columns = cells.size() > 1;
      const auto found = std::find(cells.begin(), cells.end(), "count");
      if (has_columns && found != cells.end()) count_column = static_cast<std::size_t>(found - cells.begin());
      if (has_columns) continue;  // the projector's rule: with several columns there is a header
    }
    if (!escapes) refuse_invalid_utf8(source, static_cast<std::int64_t>(words.size()), cells.front(), offset);
    words.emplace_back(cells.front());
    if (count_column >= cells.size()) continue;
    std::int64_t count = 0;
    const std::string_view text = cells[count_column];
    if (std::from_chars(text.data(), text.data() + text.size(), count).ec != std::errc())
      source.fail(fmt::format("row {}: '{}' is no count", words.size() - 1, escaped_utf8(text)));
    counts.push_back(count);
  }
  if (counts.size() != words.size()) counts.clear();
  return words;
}

// Adds all of them, and a note if some were there already.
WordList distinct(const std::vector<std::string>& words, const std::string& name, std::vector<std::string>& notes) {
  WordList list;
  list.reserve(static_cast<std::int64_t>(words.size()));
  std::int64_t repeated = 0;
  for (const std::string& word : words) repeated += add_marked(list, escaped_utf8(word)) ? 0 : 1;
  if (repeated > 0)
    notes.push_back(fmt::format("{}: {} words occur again and were marked with their row", name, repeated));
  return list;
}

}  // namespace

bool add_marked(WordList& words, std::string word) {
  if (words.add(word)) return true;
  while (!words.add(word)) word += fmt::format("#{}", words.size());
  return false;
}

LoadedTable with_words(const InputFile& source, TableFormat format, RowMatrix rows, const TableOptions& options) {
  refuse_non_finite(source.name(), rows);
  const std::filesystem::path beside = words_beside(source.name(), format);
  const std::filesystem::path& path = options.words.empty() ? beside : options.words;
  if (options.words.empty() && !std::filesystem::exists(path)) {
    return {WordTable(std::move(rows)),
            {fmt::format("{}: no words: there is no {} and no --words; rows go by their numbers", source.name(),
                         path.string())}};
  }
  InputFile words_source = InputFile::open(path);
  std::vector<std::int64_t> counts;
  std::vector<std::string> words = words_source.peek(1).starts_with('{') || path.extension() == ".json"
                                       ? read_json_words(words_source)
                                       : read_word_lines(words_source, options.escape_invalid_utf8, counts);
  if (static_cast<std::int64_t>(words.size()) != rows.rows()) {
    words_source.fail(
        fmt::format("holds {} words, and the table {} has {} rows", words.size(), source.name(), rows.rows()));
  }
  std::vector<std::string> notes;
  WordList list = distinct(words, words_source.name(), notes);
  return {WordTable(std::move(list), std::move(rows), std::move(counts)), std::move(notes)};
}

}  // namespace jari
