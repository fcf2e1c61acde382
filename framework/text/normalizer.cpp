#include "framework/text/normalizer.hpp"

#include <algorithm>

#include "framework/text/character_map.hpp"
#include "framework/text/normalize.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

// "\n" that a character other than "\n" follows becomes `to`.
std::string with_started_lines(std::string_view text, const std::string& to) {
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string_view::npos; ++at) {
    if (at + 1 == text.size() || text[at + 1] == '\n') continue;
    result.append(text, begin, at - begin);
    result += to;
    begin = at + 1;
  }
  result.append(text, begin);
  return result;
}

std::string with_joined_spaces(std::string_view text, const std::string& to) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(' ', begin), text.size());
    if (end - begin >= 2) {
      result += to;
      begin = end;
    } else {
      result += text[begin++];
    }
  }
  return result;
}

// `change(character, bytes, result)` appends what becomes of each character.
template <class Change>
std::string each_changed(std::string_view text, const Change& change) {
  std::string result;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    const char32_t character = next_code_point(text, offset);
    change(character, text.substr(begin, offset - begin), result);
  }
  return result;
}

template <class IsLeftOut>
std::string without(std::string_view text, const IsLeftOut& is_left_out) {
  return each_changed(text, [&](char32_t character, std::string_view bytes, std::string& result) {
    if (!is_left_out(character)) result += bytes;
  });
}

std::string cleaned(std::string_view text) {
  return each_changed(text, [](char32_t character, std::string_view bytes, std::string& result) {
    const bool line = character == '\t' || character == '\n' || character == '\r';
    if (line || (is_white_space(character) && !is_control(character))) {
      result += ' ';
    } else if (character != 0xFFFD && !is_control(character)) {
      result += bytes;
    }
  });
}

// The blocks that BERT takes for Chinese; Hangul and kana are none of them.
bool is_ideograph(char32_t c) {
  return (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0x2F800 && c <= 0x2FA1F);
}

std::string with_spaced_ideographs(std::string_view text) {
  return each_changed(text, [](char32_t character, std::string_view bytes, std::string& result) {
    const bool spaced = is_ideograph(character);
    if (spaced) result += ' ';
    result += bytes;
    if (spaced) result += ' ';
  });
}

std::string in_lower_case(std::string_view text) {
  std::string result;
  append_lower_case(replaced(text, "\u0130", "i\u0307"), result);  // the one letter that becomes two
  return result;
}

}  // namespace

void apply(const Normalizer& step, TextPlace place, std::string& text) {
  using Kind = Normalizer::Kind;
  switch (step.kind) {
    case Kind::nfc: {
      std::string scratch;
      if (to_nfc(text, scratch).data() != text.data()) text.swap(scratch);
      return;
    }
    case Kind::nfd:
      text = to_nfd(text);
      return;
    case Kind::nfkc:
      text = to_nfkc(text);
      return;
    case Kind::nfkd:
      text = to_nfkd(text);
      return;
    case Kind::lower_case:
      text = in_lower_case(text);
      return;
    case Kind::prepend:
      if (place != TextPlace::rest && !text.empty()) text.insert(0, step.to);
      return;
    case Kind::replace:
      if (text.find(step.from) != std::string::npos) text = replaced(text, step.from, step.to);
      return;
    case Kind::start_lines:
      if (text.find('\n') != std::string::npos) text = with_started_lines(text, step.to);
      return;
    case Kind::join_spaces:
      if (text.find("  ") != std::string::npos) text = with_joined_spaces(text, step.to);
      return;
    case Kind::strip_left:
      if (place != TextPlace::rest) text.erase(0, leading_white_space(text));
      return;
    case Kind::strip_right:
      text.resize(without_trailing_white_space(text).size());
      return;
    case Kind::strip_marks:
      text = without(text, is_mark);
      return;
    case Kind::strip_accents:
      text = without(to_nfd(text), is_nonspacing_mark);
      return;
    case Kind::clean:
      text = cleaned(text);
      return;
    case Kind::space_out_ideographs:
      text = with_spaced_ideographs(text);
      return;
    case Kind::character_map:
      text = step.map->apply(text);
      return;
  }
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  if (from.empty()) return std::string(text);
  std::string result;
  result.reserve(text.size());
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(from, begin)) != std::string_view::npos; begin = at + from.size()) {
    result.append(text, begin, at - begin);
    result += to;
  }
  result.append(text, begin);
  return result;
}

}  // namespace jari
