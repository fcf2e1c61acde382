#pragma once
// What tokenizers ask of a code point and of UTF-8 bytes. Properties are utf8proc's (Unicode 15).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/text.hpp"  // next_code_point

namespace jari {

// Unicode property White_Space: what `\s` means in tiktoken's and GPT-2's patterns.
bool is_white_space(char32_t code_point);

enum class CharacterClass { white_space, letter, number, other };  // \s, \p{L}, \p{N}
CharacterClass character_class(char32_t code_point);

bool is_punctuation(char32_t code_point);      // general category P
bool is_mark(char32_t code_point);             // M
bool is_nonspacing_mark(char32_t code_point);  // Mn
bool is_control(char32_t code_point);          // C, but for what is not assigned (Cn)
char32_t lower_case(char32_t code_point);      // simple mapping
void append_lower_case(std::string_view text, std::string& out);
void append_utf8(char32_t code_point, std::string& out);

// Code points of valid UTF-8.
inline std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u ? 1 : 0;
  return count;
}

// Bytes of the white space that begins at `offset`, 0 if there is none. Looks at the bytes alone, for fast scans.
std::size_t white_space_at(std::string_view text, std::size_t offset);

// Bytes of the white space that a text begins with; a text without the white space at its end.
std::size_t leading_white_space(std::string_view text);
std::string_view without_trailing_white_space(std::string_view text);

// The code point that ends before `end` (> 0), and where it begins. The text is valid UTF-8.
struct LastCodePoint {
  char32_t code_point;
  std::size_t begin;
};
LastCodePoint last_code_point(std::string_view text, std::size_t end);

// How far a text is UTF-8. What follows is either malformed, or a sequence that is cut off by the end of the text.
struct Utf8Prefix {
  std::size_t valid;
  bool malformed;
};
Utf8Prefix utf8_prefix(std::string_view text);

// For messages and tables: bytes that are no UTF-8, and control characters, as \xEA and \n.
std::string escaped(std::string_view bytes);

}  // namespace jari
