// Lines of numbers: what word2vec's text, GloVe and TSV files share.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "framework/table/formats.hpp"

namespace jari {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

std::optional<TextRow> split_row(std::string_view line, std::int64_t width) {
  std::size_t end = line.size();
  while (end > 0 && is_blank(line[end - 1])) --end;  // word2vec.c ends its lines with a space
  std::size_t begin = end;
  for (std::int64_t field = 0; field < width; ++field) {
    while (begin > 0 && is_blank(line[begin - 1])) --begin;
    if (begin == 0) return std::nullopt;
    while (begin > 0 && !is_blank(line[begin - 1])) --begin;
  }
  if (begin == 0) return std::nullopt;  // no word is left
  return TextRow{line.substr(0, begin - 1), line.substr(begin, end - begin)};
}

std::int64_t count_fields(std::string_view text) {
  std::int64_t fields = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!is_blank(text[i]) && (i == 0 || is_blank(text[i - 1]))) ++fields;
  return fields;
}

std::string parse_numbers(std::string_view text, std::span<float> values) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    while (at != end && is_blank(*at)) ++at;
    if (at == end) return fmt::format("{} numbers, not {}", i, values.size());
    auto [after, error] = std::from_chars(at, end, values[i]);
    if (error == std::errc::result_out_of_range) {  // too small for f32, or too large
      double wide = 0;
      after = std::from_chars(at, end, wide).ptr;
      values[i] = static_cast<float>(wide);
    }
    if (after == at || (after != end && !is_blank(*after))) {
      const char* stop = at;
      while (stop != end && !is_blank(*stop)) ++stop;
      return fmt::format("'{}' where a number should be", escaped_utf8({at, stop}));
    }
    at = after;
  }
  while (at != end && is_blank(*at)) ++at;
  return at == end ? "" : fmt::format("more than {} numbers", values.size());
}

void add_text_row(TableBuilder& builder, const InputFile& source, std::string_view line, std::uint64_t offset,
                  std::int64_t width, Spaces spaces) {
  const std::optional<TextRow> parts = split_row(line, width);
  if (!parts || (spaces == Spaces::end_a_word && std::any_of(parts->word.begin(), parts->word.end(), is_blank))) {
    source.fail(fmt::format("row {} (byte {}) holds {} fields, not a word and {} numbers", builder.seen(), offset,
                            count_fields(line), width));
  }
  const std::string wrong = parse_numbers(parts->numbers, builder.next_row());
  if (!wrong.empty()) {
    source.fail(fmt::format("row {} ('{}', byte {}): {}", builder.seen(), escaped_utf8(parts->word), offset, wrong));
  }
  builder.add(parts->word, offset);
}

void append_number(std::string& text, float value) { fmt::format_to(std::back_inserter(text), "{}", value); }

}  // namespace jari
