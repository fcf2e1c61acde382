// NumPy's archive: `vectors` [rows, width], `words` [rows] as text (U) or UTF-8 bytes (S), `counts` [rows] as i8.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/table/npy_header.hpp"
#include "framework/table/zip.hpp"

namespace jari {
namespace {

constexpr const char* kVectors = "vectors";

// Of "vectors.npy": NumPy's name of the array.
std::string array_name(const ZipMember& member) {
  return member.name.ends_with(".npy") ? member.name.substr(0, member.name.size() - 4) : member.name;
}

const ZipMember* find(const std::vector<ZipMember>& members, const std::string& name) {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const ZipMember& member) { return array_name(member) == name; });
  return found == members.end() ? nullptr : &*found;
}

// The array that is asked for; else `vectors`; else the only one that can be a table.
const ZipMember& choose(const std::filesystem::path& path, const std::vector<ZipMember>& members,
                        const std::string& name) {
  std::vector<std::string> names;
  std::vector<const ZipMember*> matrices;
  for (const ZipMember& member : members) {
    InputFile source = open_member(path, member);
    const NpyHeader header = read_npy_header(source);
    names.push_back(fmt::format("{} {} ({})", array_name(member), header.type, fmt::join(header.shape, ", ")));
    if (header.is_number() && header.shape.size() == 2) matrices.push_back(&member);
  }
  if (const ZipMember* member = find(members, name.empty() ? kVectors : name)) return *member;
  if (name.empty() && matrices.size() == 1) return *matrices.front();
  throw StoreError(fmt::format(
      "{}: {}; it holds {}", path.string(),
      name.empty() ? "name the array that is the table with --tensor" : fmt::format("there is no array '{}'", name),
      joined(names)));
}

RowMatrix read_vectors(InputFile& source) {
  const NpyHeader header = read_npy_header(source);
  if (!header.is_number() || header.shape.size() != 2) {
    source.fail(
        fmt::format("is of type '{}' and shape ({}); a table needs f2, f4 or f8 with two axes, rows and columns",
                    header.type, fmt::join(header.shape, ", ")));
  }
  RowMatrix rows = read_matrix(source, header.number_type(), header.shape[0], header.shape[1], header.by_columns);
  refuse_more_bytes(source);
  return rows;
}

// Text of fixed length, padded with zeros.
std::string word_of(const std::vector<char>& element, const NpyHeader& header) {
  if (header.kind == 'S') return {element.data(), strnlen(element.data(), element.size())};
  std::string word;
  for (std::size_t i = 0; i + 4 <= element.size(); i += 4) {
    unsigned char bytes[4];
    std::memcpy(bytes, element.data() + i, 4);
    if (header.is_big_endian) std::reverse(bytes, bytes + 4);
    const std::uint32_t code_point = bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8 |
                                     static_cast<std::uint32_t>(bytes[2]) << 16 |
                                     static_cast<std::uint32_t>(bytes[3]) << 24;
    if (code_point == 0) break;
    utf8proc_uint8_t encoded[4];
    const auto value = static_cast<utf8proc_int32_t>(code_point);
    if (!utf8proc_codepoint_valid(value)) return "\xFF";  // refused as no UTF-8 by the caller
    word.append(encoded, encoded + utf8proc_encode_char(value, encoded));
  }
  return word;
}

WordList read_words(InputFile& source, std::int64_t rows) {
  const NpyHeader header = read_npy_header(source);
  const bool is_text = header.kind == 'U' || header.kind == 'S';
  if (!is_text || header.shape != std::vector<std::int64_t>{rows}) {
    source.fail(
        fmt::format("is of type '{}' and shape ({}); the words of a table of {} rows should be text, U or S, of that "
                    "many elements",
                    header.type, fmt::join(header.shape, ", "), rows));
  }
  if (header.element_bytes > 0 && static_cast<std::uint64_t>(rows) > source.most_left() / header.element_bytes) {
    source.fail(fmt::format("cut short: it can not hold {} words of {} bytes", rows, header.element_bytes));
  }
  WordList words;
  std::vector<char> element(header.element_bytes);
  for (std::int64_t row = 0; row < rows; ++row) {
    source.read(element.data(), element.size(), "the words");
    const std::string word = word_of(element, header);
    if (first_invalid_utf8(word)) source.fail(fmt::format("the word of row {} is no UTF-8", row));
    add_marked(words, word);
  }
  refuse_more_bytes(source);
  return words;
}

std::vector<std::int64_t> read_counts(InputFile& source, std::int64_t rows) {
  const NpyHeader header = read_npy_header(source);
  if (header.type != "<i8" || header.shape != std::vector<std::int64_t>{rows} ||
      static_cast<std::uint64_t>(rows) > source.most_left() / sizeof(std::int64_t)) {
    source.fail(
        fmt::format("is of type '{}' and shape ({}); the counts of a table of {} rows should be <i8 of that many "
                    "elements",
                    header.type, fmt::join(header.shape, ", "), rows));
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(rows));
  source.read(reinterpret_cast<char*>(counts.data()), counts.size() * sizeof(std::int64_t), "the counts");
  refuse_more_bytes(source);
  return counts;
}

// Code points of each word, little-endian, padded to the longest.
std::string text_array(const OutputFile& file, const WordTable& table) {
  std::size_t longest = 1;
  for (std::int64_t row = 0; row < table.size(); ++row)
    longest = std::max(longest, static_cast<std::size_t>(count_code_points(table.word(row))));
  constexpr std::size_t kMostBytes = std::size_t{1} << 32;
  if (4 * longest > kMostBytes / static_cast<std::size_t>(std::max<std::int64_t>(1, table.size()))) {
    throw StoreError(
        fmt::format("{}: can not be written: one word has {} characters, and NumPy gives every word the room of "
                    "the longest; write csv, or npy with the words beside it",
                    file.path().string(), longest));
  }
  std::string bytes = npy_header_text(fmt::format("<U{}", longest), {table.size()});
  for (std::int64_t row = 0; row < table.size(); ++row) {
    const std::string_view word = table.word(row);
    std::size_t written = 0;
    for (std::size_t offset = 0; offset < word.size(); ++written) {
      const char32_t code_point = next_code_point(word, offset);
      if (code_point == 0) {
        throw StoreError(
            fmt::format("{}: can not be written: the word of row {} holds a NUL, which ends words in NumPy",
                        file.path().string(), row));
      }
      for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(code_point >> shift & 0xFF);
    }
    bytes.append(4 * (longest - written), '\0');
  }
  return bytes;
}

}  // namespace

LoadedTable read_npz(const std::filesystem::path& path, const TableOptions& options) {
  const std::vector<ZipMember> members = zip_members(path);
  InputFile source = open_member(path, choose(path, members, options.tensor));
  RowMatrix rows = read_vectors(source);
  const std::int64_t count = rows.rows();
  const ZipMember* words = find(members, "words");
  if (words == nullptr || !options.words.empty())
    return with_words(InputFile::open(path), TableFormat::npz, std::move(rows), options);
  InputFile word_source = open_member(path, *words);
  WordList list = read_words(word_source, count);
  std::vector<std::int64_t> counts;
  if (const ZipMember* member = find(members, "counts")) {
    InputFile count_source = open_member(path, *member);
    counts = read_counts(count_source, count);
  }
  refuse_non_finite(source.name(), rows);
  return {WordTable(std::move(list), std::move(rows), std::move(counts)), {}};
}

void write_npz(OutputFile& file, const WordTable& table) {
  ZipWriter archive(file);
  const std::string header = npy_header_text("<f4", {table.size(), table.width()});
  const std::span<const float> values = table.rows().values();
  archive.add("vectors.npy", {header, {reinterpret_cast<const char*>(values.data()), values.size_bytes()}});
  if (table.has_words()) archive.add("words.npy", {text_array(file, table)});
  if (!table.counts().empty()) {
    const std::string counts_header = npy_header_text("<i8", {table.size()});
    const auto& counts = table.counts();
    archive.add("counts.npy",
                {counts_header, {reinterpret_cast<const char*>(counts.data()), counts.size() * sizeof counts.front()}});
  }
  archive.finish();
}

}  // namespace jari
