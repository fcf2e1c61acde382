#include "framework/spec/scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace jari {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// from_chars knows no '+', and YAML does.
std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

std::string_view without_sign(std::string_view text) {
  return !text.empty() && (text[0] == '+' || text[0] == '-') ? text.substr(1) : text;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  const std::string_view digits = without_sign(text);
  if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) return std::nullopt;  // inf, nan
  text = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const std::string_view number = without_plus(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc{} && end == number.data() + number.size() && !number.empty()) return value;
  const std::optional<double> real = parse_number(text);
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double names more than one integer
  if (!real || std::abs(*real) > kExact || *real != std::floor(*real)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::string format_number(double value) { return fmt::format("{}", value); }

bool is_boolean_trap(std::string_view text) {
  if (text.size() < 2 || text.size() > 5 || parse_boolean(text)) return false;
  const std::string word = lower(text);
  return word == "yes" || word == "no" || word == "on" || word == "off" || word == "true" || word == "false";
}

bool is_octal_trap(std::string_view text) {
  const std::string_view digits = without_sign(text);
  if (digits.size() < 2 || digits[0] != '0') return false;
  if (digits[1] == 'o' || digits[1] == 'x' || digits[1] == 'b') {
    const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
    return digits.size() > 2 && std::all_of(digits.begin() + 2, digits.end(), is_hex);
  }
  return is_digit(digits[1]) && parse_number(text).has_value();
}

bool is_not_finite(std::string_view text) {
  const std::string word = lower(without_sign(text));
  return word == ".inf" || word == ".nan";
}

bool is_null_text(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::optional<std::string> without_digit_separators(std::string_view text) {
  if (text.find('_') == std::string_view::npos) return std::nullopt;
  std::string digits;
  for (char c : text) {
    if (c != '_') digits += c;
  }
  if (!is_digit(text.back()) || !parse_number(digits)) return std::nullopt;
  return digits;
}

bool is_more_than_text(std::string_view text) {
  return is_null_text(text) || is_boolean_trap(text) || parse_boolean(text) || is_octal_trap(text) ||
         is_not_finite(text) || parse_number(text) || without_digit_separators(text) || text == "<<";
}

bool is_plain_text(std::string_view text) {
  if (is_more_than_text(text)) return false;
  constexpr std::string_view kBadFirst = "-?:,[]{}#&*!|>'\"%@`= .";
  constexpr std::string_view kBadAnywhere = ",[]{}\"\\";
  if (kBadFirst.find(text.front()) != std::string_view::npos || text.back() == ' ' || text.back() == ':') return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
  return std::none_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F || kBadAnywhere.find(c) != std::string_view::npos;
  });
}

}  // namespace jari
