#include "framework/text/unicode.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <cstdint>
#include <cstring>

namespace jari {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

bool is_ascii_white_space(unsigned c) { return c == ' ' || (c >= 9 && c <= 13); }

// Bytes of the ASCII text that `text` has from `offset` on, a multiple of 8.
std::size_t ascii_run(std::string_view text, std::size_t offset) {
  std::size_t end = offset;
  for (; end + 8 <= text.size(); end += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + end, 8);
    if ((eight & 0x8080808080808080u) != 0) break;
  }
  return end - offset;
}

// Bytes of the sequence at `offset`; 0 if it is malformed, -1 if the text ends within it.
int sequence_length(std::string_view text, std::size_t offset) {
  const unsigned lead = byte_at(text, offset);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF (Unicode 15, table 3-7).
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (int i = 1; i < length; ++i) {
    const std::size_t at = offset + static_cast<std::size_t>(i);
    if (at >= text.size()) return -1;
    const unsigned next = byte_at(text, at);
    if (next < (i == 1 ? low : 0x80u) || next > (i == 1 ? high : 0xBFu)) return 0;
  }
  return length;
}

// Whether the general category is one of those from `first` to `last`, which utf8proc has one after the other.
bool is_between(utf8proc_category_t first, char32_t c, utf8proc_category_t last) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= first && category <= last;
}

}  // namespace

bool is_white_space(char32_t c) {
  if (c < 0x80) return is_ascii_white_space(c);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

CharacterClass character_class(char32_t c) {
  if (c < 0x80) {
    if ((c | 0x20u) >= 'a' && (c | 0x20u) <= 'z') return CharacterClass::letter;
    if (c >= '0' && c <= '9') return CharacterClass::number;
    return is_ascii_white_space(c) ? CharacterClass::white_space : CharacterClass::other;
  }
  if (is_white_space(c)) return CharacterClass::white_space;
  if (is_between(UTF8PROC_CATEGORY_LU, c, UTF8PROC_CATEGORY_LO)) return CharacterClass::letter;
  if (is_between(UTF8PROC_CATEGORY_ND, c, UTF8PROC_CATEGORY_NO)) return CharacterClass::number;
  return CharacterClass::other;
}

bool is_punctuation(char32_t c) { return is_between(UTF8PROC_CATEGORY_PC, c, UTF8PROC_CATEGORY_PO); }
bool is_mark(char32_t c) { return is_between(UTF8PROC_CATEGORY_MN, c, UTF8PROC_CATEGORY_ME); }
bool is_nonspacing_mark(char32_t c) { return is_between(UTF8PROC_CATEGORY_MN, c, UTF8PROC_CATEGORY_MN); }
bool is_control(char32_t c) { return is_between(UTF8PROC_CATEGORY_CC, c, UTF8PROC_CATEGORY_CO); }

char32_t lower_case(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

void append_lower_case(std::string_view text, std::string& out) {
  for (std::size_t offset = 0; offset < text.size();) append_utf8(lower_case(next_code_point(text, offset)), out);
}

void append_utf8(char32_t c, std::string& out) {
  const auto push = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) return push(c);
  if (c < 0x800) {
    push(0xC0 | (c >> 6));
  } else if (c < 0x10000) {
    push(0xE0 | (c >> 12));
    push(0x80 | ((c >> 6) & 0x3F));
  } else {
    push(0xF0 | (c >> 18));
    push(0x80 | ((c >> 12) & 0x3F));
    push(0x80 | ((c >> 6) & 0x3F));
  }
  push(0x80 | (c & 0x3F));
}

std::size_t white_space_at(std::string_view text, std::size_t offset) {
  const unsigned lead = byte_at(text, offset);
  if (lead < 0x80) return is_ascii_white_space(lead) ? 1 : 0;
  if (lead != 0xC2 && (lead < 0xE1 || lead > 0xE3)) return 0;  // no white space begins with another byte
  const std::size_t begin = offset;
  return is_white_space(next_code_point(text, offset)) ? offset - begin : 0;
}

std::size_t leading_white_space(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t space = white_space_at(text, end);
    if (space == 0) break;
    end += space;
  }
  return end;
}

std::string_view without_trailing_white_space(std::string_view text) {
  while (!text.empty()) {
    const LastCodePoint last = last_code_point(text, text.size());
    if (!is_white_space(last.code_point)) break;
    text = text.substr(0, last.begin);
  }
  return text;
}

LastCodePoint last_code_point(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (byte_at(text, begin) & 0xC0u) == 0x80u) --begin;
  std::size_t offset = begin;
  const char32_t code_point = next_code_point(text.substr(0, end), offset);
  return {code_point, begin};
}

Utf8Prefix utf8_prefix(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    if (byte_at(text, offset) < 0x80) {
      const std::size_t run = ascii_run(text, offset);
      offset += run == 0 ? 1 : run;
      continue;
    }
    const int length = sequence_length(text, offset);
    if (length <= 0) return {offset, length == 0};
    offset += static_cast<std::size_t>(length);
  }
  return {offset, false};
}

std::string escaped(std::string_view bytes) {
  std::string result;
  for (std::size_t offset = 0; offset < bytes.size();) {
    const std::size_t begin = offset;
    const char32_t c = next_code_point(bytes, offset);
    const bool malformed = c == 0xFFFD && offset - begin == 1;
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (malformed || control) {
      for (std::size_t i = begin; i < offset; ++i) result += fmt::format("\\x{:02X}", byte_at(bytes, i));
    } else {
      result += bytes.substr(begin, offset - begin);
    }
  }
  return result;
}

}  // namespace jari
