#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstring>

#include "framework/base/text.hpp"
#include "framework/table/npy_header.hpp"

namespace jari {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// What stands after a key of the header, a literal of a Python dict: {'descr': '<f4', 'shape': (5, 4), }.
std::string_view value_of(const InputFile& source, std::string_view header, const std::string& key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) source.fail(fmt::format("its header has no '{}'; this is no .npy file", key));
  std::string_view rest = trimmed(header.substr(at + key.size() + 3));
  const std::size_t end = rest.starts_with('(')    ? rest.find(')')
                          : rest.starts_with('\'') ? rest.find('\'', 1)
                                                   : rest.find_first_of(",}");
  if (end == std::string_view::npos) source.fail(fmt::format("its header breaks off after '{}'", key));
  return rest.starts_with('(') || rest.starts_with('\'') ? rest.substr(1, end - 1) : trimmed(rest.substr(0, end));
}

std::vector<std::int64_t> parse_shape(const InputFile& source, std::string_view text) {
  std::vector<std::int64_t> shape;
  while (!(text = trimmed(text)).empty()) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0)
      source.fail(fmt::format("its header names no usable shape: ({})", escaped_utf8(text)));
    shape.push_back(size);
    text = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return shape;
}

// "<f4": byte order, kind, bytes (of U: code points).
void parse_type(const InputFile& source, std::string_view text, NpyHeader& header) {
  header.type = escaped_utf8(text);
  if (text.size() < 3 || std::strchr("<>|=", text[0]) == nullptr)
    source.fail(fmt::format("its elements are '{}', and a table needs plain numbers (f2, f4, f8)", header.type));
  header.is_big_endian = text[0] == '>';
  header.kind = text[1];
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), header.element_bytes);
  if (error != std::errc() || end != text.data() + text.size() || header.element_bytes > (1u << 24))
    source.fail(fmt::format("its elements are of an unknown type '{}'", header.type));
  if (header.kind == 'U') header.element_bytes *= 4;
}

}  // namespace

std::int64_t NpyHeader::count() const {
  std::int64_t product = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(product, size, &product)) return -1;
  return product;
}

ElementType NpyHeader::number_type() const {
  const auto of_size = element_bytes == 2   ? ElementType::Kind::f16
                       : element_bytes == 4 ? ElementType::Kind::f32
                                            : ElementType::Kind::f64;
  return {of_size, is_big_endian};
}

NpyHeader read_npy_header(InputFile& source) {
  char start[8];
  source.read(start, sizeof start, "the header");
  if (std::string_view(start, kMagic.size()) != kMagic) source.fail("does not begin as a .npy file does");
  const int version = start[6];
  if (version < 1 || version > 3) source.fail(fmt::format("is a .npy file of version {}; known are 1 to 3", version));
  unsigned char length_bytes[4] = {};
  source.read(reinterpret_cast<char*>(length_bytes), version == 1 ? 2 : 4, "the header");
  std::size_t length = 0;
  for (int i = 3; i >= 0; --i) length = length << 8 | length_bytes[i];
  constexpr std::size_t kLongest = 1 << 20;
  if (length > kLongest || length > source.most_left())
    source.fail(fmt::format("its header claims to be {} bytes long", length));
  std::string text(length, '\0');
  source.read(text.data(), length, "the header");
  NpyHeader header;
  parse_type(source, value_of(source, text, "descr"), header);
  header.by_columns = value_of(source, text, "fortran_order") == "True";
  header.shape = parse_shape(source, value_of(source, text, "shape"));
  return header;
}

std::string npy_header_text(const std::string& type, const std::vector<std::int64_t>& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t kBefore = 10, kAlignment = 64;
  while ((kBefore + text.size() + 1) % kAlignment != 0) text += ' ';
  text += '\n';
  const std::size_t length = text.size();
  return std::string(kMagic) + '\x01' + '\0' + static_cast<char>(length & 0xFF) + static_cast<char>(length >> 8) + text;
}

void refuse_more_bytes(InputFile& source) {
  if (!source.peek(1).empty())
    source.fail(fmt::format("has more bytes after its array, from byte {} on", source.offset()));
}

LoadedTable read_npy(InputFile& source, const TableOptions& options) {
  const NpyHeader header = read_npy_header(source);
  if (!header.is_number() || header.shape.size() != 2) {
    source.fail(
        fmt::format("holds an array of type '{}' and shape ({}); a table needs f2, f4 or f8 with two axes, rows and "
                    "columns",
                    header.type, fmt::join(header.shape, ", ")));
  }
  RowMatrix rows = read_matrix(source, header.number_type(), header.shape[0], header.shape[1], header.by_columns);
  refuse_more_bytes(source);
  return with_words(source, TableFormat::npy, std::move(rows), options);
}

void write_npy(OutputFile& file, const WordTable& table) {
  file.write(npy_header_text("<f4", {table.size(), table.width()}));
  const std::span<const float> values = table.rows().values();
  file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

}  // namespace jari
