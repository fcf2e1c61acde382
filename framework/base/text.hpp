#pragma once
// UTF-8 text: code points, columns on a terminal, lists of names.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jari {

// The code point that starts at `offset`, which is moved past it. Malformed bytes are read one by one as U+FFFD.
char32_t next_code_point(std::string_view text, std::size_t& offset);

// Offset of the first byte that is not UTF-8 (overlong forms and surrogates are not).
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// Any bytes as UTF-8 text without NUL, and back: a byte that is no UTF-8, a NUL and a backslash that an escape would
// begin with are "\xNN".
std::string as_utf8(std::string_view bytes);
std::string bytes_of_utf8(std::string_view text);

int count_code_points(std::string_view text);

// Columns that a terminal gives a code point: 0 combining, 2 East Asian wide (Unicode TR 11), else 1.
int display_width(char32_t code_point);
int display_width(std::string_view text);

// A text that can be shown on any terminal: control characters as "\x1b", malformed bytes as U+FFFD.
std::string printable(std::string_view text);
// The same of a text of several lines, whose line ends and tabs stay.
std::string printable_lines(std::string_view text);

// "a, b, c".
std::string joined(const std::vector<std::string>& names, std::string_view separator = ", ");

}  // namespace jari
