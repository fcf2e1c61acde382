#include "framework/table/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/table/formats.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

// "vectors.txt.gz" -> ".txt".
std::string ending(const fs::path& path) {
  return path.extension() == ".gz" ? path.stem().extension().string() : path.extension().string();
}

bool is_header(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || space == 0) return false;
  const auto is_count = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  std::string_view after = line.substr(space + 1);
  while (after.ends_with(' ') || after.ends_with('\r')) after.remove_suffix(1);
  return is_count(line.substr(0, space)) && is_count(after);
}

// What follows a header. Lines of text end in a number; numbers as bytes hold control characters, or are no UTF-8,
// sooner rather than later.
bool looks_binary(std::string_view bytes) {
  const std::string_view first = bytes.substr(0, bytes.find('\n'));
  float ignored = 0;
  const std::optional<TextRow> row = split_row(first, 1);
  if (row && parse_numbers(row->numbers, {&ignored, 1}).empty()) return false;
  const bool has_control = std::any_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
  });
  const auto invalid = first_invalid_utf8(bytes);
  return has_control || (invalid && *invalid + 4 < bytes.size());  // the last character may be cut
}

TableFormat format_by_content(InputFile& source) {
  constexpr std::size_t kLook = 1 << 13;
  const std::string_view head = source.peek(kLook);
  if (head.starts_with("\x93NUMPY")) return TableFormat::npy;
  if (head.starts_with("PK\x03\x04")) return TableFormat::npz;
  if (head.size() > 8 && head[8] == '{' && head[7] == '\0') return TableFormat::safetensors;
  const std::size_t end = std::min(head.find('\n'), head.size());
  if (!is_header(head.substr(0, end))) return TableFormat::glove;
  return looks_binary(head.substr(std::min(end + 1, head.size()))) ? TableFormat::word2vec : TableFormat::word2vec_text;
}

TableFormat format_of(const fs::path& path, InputFile& source) {
  const std::string end = ending(path);
  if (end == ".npy") return TableFormat::npy;
  if (end == ".npz") return TableFormat::npz;
  if (end == ".safetensors") return TableFormat::safetensors;
  if (end == ".tsv") return TableFormat::tsv;
  if (end == ".csv") return TableFormat::csv;
  if (source.peek(1).empty()) source.fail("is empty");
  return format_by_content(source);
}

// Options that would change nothing.
void refuse_idle_options(const InputFile& source, TableFormat format, const TableOptions& options) {
  const auto& name = table_format_names()[static_cast<std::size_t>(format)];
  const bool has_names = format == TableFormat::npz || format == TableFormat::safetensors;
  if (!options.tensor.empty() && !has_names)
    source.fail(fmt::format("a {} file holds one table, without a name; leave --tensor out", name));
  const bool has_words =
      format == TableFormat::word2vec || format == TableFormat::word2vec_text || format == TableFormat::glove;
  if (!options.words.empty() && has_words)
    source.fail(fmt::format("a {} file has words of its own; leave --words out", name));
}

void write_words_beside(const fs::path& path, const WordTable& table, TableFormat format) {
  OutputFile file(words_beside(path, format));
  refuse_in_words(file, table, format == TableFormat::tsv ? "\t\n\r" : "\n\r", "its lines are a word each");
  const bool has_counts = format == TableFormat::tsv && !table.counts().empty();
  if (has_counts) file.write("word\tcount\n");
  for (std::int64_t row = 0; row < table.size(); ++row) {
    file.write(table.word(row));
    if (has_counts) file.write(fmt::format("\t{}", table.counts()[static_cast<std::size_t>(row)]));
    file.write("\n");
  }
  file.commit();
}

}  // namespace

const std::vector<std::string>& table_format_names() {
  static const std::vector<std::string> names = {"word2vec", "word2vec_text", "glove", "npy",
                                                 "npz",      "safetensors",   "tsv",   "csv"};
  return names;
}

std::optional<TableFormat> table_format_named(const std::string& name) {
  const auto& names = table_format_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<TableFormat>(found - names.begin());
}

fs::path words_beside(const fs::path& path, TableFormat format) {
  const fs::path bare = path.extension() == ".gz" ? fs::path(path).replace_extension() : path;
  if (format != TableFormat::tsv) return fs::path(bare).replace_extension(".words.txt");
  if (bare.filename() == "vectors.tsv") return bare.parent_path() / "metadata.tsv";
  return fs::path(bare).replace_extension(".metadata.tsv");
}

LoadedTable read_table(const fs::path& path, const TableOptions& options) {
  InputFile source = InputFile::open(path);
  const TableFormat format = options.format ? *options.format : format_of(path, source);
  refuse_idle_options(source, format, options);
  switch (format) {
    case TableFormat::word2vec:
      return read_word2vec(source, options);
    case TableFormat::word2vec_text:
      return read_word2vec_text(source, options);
    case TableFormat::glove:
      return read_glove(source, options);
    case TableFormat::npy:
      return read_npy(source, options);
    case TableFormat::npz:
      if (source.is_packed()) source.fail("is an archive within gzip: unpack it with gunzip");
      return read_npz(path, options);
    case TableFormat::safetensors:
      return read_safetensors(source, options);
    case TableFormat::tsv:
      return read_tsv(source, options);
    case TableFormat::csv:
      break;
  }
  source.fail("csv is written only; read one of word2vec, word2vec_text, glove, npy, npz, safetensors, tsv");
}

void write_table(const fs::path& path, const WordTable& table, TableFormat format, const std::string& tensor) {
  if (format == TableFormat::npz && path.extension() == ".gz") {
    throw StoreError(
        fmt::format("{}: can not be written: an npz is packed already; name it without .gz", path.string()));
  }
  OutputFile file(path);
  switch (format) {
    case TableFormat::word2vec:
      write_word2vec(file, table);
      break;
    case TableFormat::word2vec_text:
      write_word2vec_text(file, table);
      break;
    case TableFormat::glove:
      write_glove(file, table);
      break;
    case TableFormat::npy:
      write_npy(file, table);
      break;
    case TableFormat::npz:
      write_npz(file, table);
      break;
    case TableFormat::safetensors:
      write_safetensors(file, table, tensor);
      break;
    case TableFormat::tsv:
      write_tsv(file, table);
      break;
    case TableFormat::csv:
      write_csv(file, table);
      break;
  }
  const bool needs_words =
      format == TableFormat::npy || format == TableFormat::safetensors || format == TableFormat::tsv;
  if (needs_words && table.has_words()) write_words_beside(path, table, format);
  file.commit();
}

}  // namespace jari
