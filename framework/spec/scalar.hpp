#pragma once
// What an unquoted scalar of a spec means. Narrower than YAML 1.1 on purpose: what it reads in a surprising way is an
// error here.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jari {

// Decimal digits with a sign, or a decimal number whose value is whole ("1e3"). Nothing else, nor beyond 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);

// A finite decimal number: "1e-3", "1.0", ".5".
std::optional<double> parse_number(std::string_view text);

std::optional<bool> parse_boolean(std::string_view text);  // true, false

// Shortest text that reads back as the same number.
std::string format_number(double value);

// yes, no, on, off in any case, and True, FALSE ...: not booleans here, and no text without quotes.
bool is_boolean_trap(std::string_view text);

// 010, 0o17, 0x1F: read as octal by one reader and as decimal by the next.
bool is_octal_trap(std::string_view text);

// ".inf", "-.Inf", ".nan".
bool is_not_finite(std::string_view text);

bool is_null_text(std::string_view text);  // "", ~, null

// "1_000" -> "1000".
std::optional<std::string> without_digit_separators(std::string_view text);

// Whether the text without quotes is a number, a boolean, nothing, or one of the traps above.
bool is_more_than_text(std::string_view text);

// Whether the text without quotes is read as this very text, in block and in flow style.
bool is_plain_text(std::string_view text);

}  // namespace jari
