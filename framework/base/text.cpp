#include "framework/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace jari {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct CodePointRange {
  char32_t first, last;
};

// Sorted. Combining marks and other code points without a column of their own, of the scripts that specs hold.
constexpr CodePointRange kZeroWidth[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489},  {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0900, 0x0902},
    {0x093C, 0x093C}, {0x0941, 0x0948},  {0x094D, 0x094D}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
    {0x1160, 0x11FF}, {0x1AB0, 0x1AFF},  {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064},
    {0x20D0, 0x20FF}, {0x302A, 0x302D},  {0x3099, 0x309A}, {0xD7B0, 0xD7FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

// Sorted. East Asian Wide and Fullwidth.
constexpr CodePointRange kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x2614, 0x2615},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x2705, 0x2705},   {0x274C, 0x274C},   {0x2753, 0x2755},
    {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x16FE0, 0x18CFF}, {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E},
    {0x1F191, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393},
    {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E},
    {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567},
    {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
    {0x1F6D0, 0x1F6D2}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F90C, 0x1F9FF},
    {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <std::size_t count>
bool in_ranges(char32_t code_point, const CodePointRange (&ranges)[count]) {
  const CodePointRange* after =
      std::upper_bound(std::begin(ranges), std::end(ranges), code_point,
                       [](char32_t value, const CodePointRange& range) { return value < range.first; });
  return after != std::begin(ranges) && code_point <= std::prev(after)->last;
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(offset++);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 && lead <= 0xF4  ? 3
                   : lead >= 0xE0 && lead < 0xF0 ? 2
                   : lead >= 0xC2 && lead < 0xE0 ? 1
                                                 : 0;
  if (more == 0 || offset + static_cast<std::size_t>(more) > text.size()) return kReplacement;
  char32_t result = lead & (0x3Fu >> more);
  for (int i = 0; i < more; ++i) {
    const unsigned char next = byte(offset + static_cast<std::size_t>(i));
    if ((next & 0xC0u) != 0x80u) return kReplacement;
    result = (result << 6) | (next & 0x3Fu);
  }
  constexpr char32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  if (result < kSmallest[more] || result > 0x10FFFF || (result >= 0xD800 && result <= 0xDFFF)) return kReplacement;
  offset += static_cast<std::size_t>(more);
  return result;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t start = offset;
    // A real U+FFFD takes three bytes, a malformed byte one.
    if (next_code_point(text, offset) == kReplacement && offset - start == 1) return start;
  }
  return std::nullopt;
}

int count_code_points(std::string_view text) {
  int count = 0;
  for (std::size_t offset = 0; offset < text.size(); ++count) next_code_point(text, offset);
  return count;
}

int display_width(char32_t code_point) {
  if (code_point < 0x300) return 1;
  if (in_ranges(code_point, kZeroWidth)) return 0;
  return in_ranges(code_point, kWide) ? 2 : 1;
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t offset = 0; offset < text.size();) width += display_width(next_code_point(text, offset));
  return width;
}

namespace {

std::string printable_but(std::string_view kept, std::string_view text) {
  std::string result;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t start = offset;
    const char32_t point = next_code_point(text, offset);
    if (kept.find(text[start]) != std::string_view::npos) {
      result += text[start];
    } else if (point < 0x20 || (point >= 0x7F && point < 0xA0)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(point));
    } else if (point == kReplacement) {
      result += "\xEF\xBF\xBD";
    } else {
      result += text.substr(start, offset - start);
    }
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return printable_but("", text); }

std::string printable_lines(std::string_view text) { return printable_but("\n\t", text); }

std::string joined(const std::vector<std::string>& names, std::string_view separator) {
  std::string result;
  for (const std::string& name : names) {
    if (!result.empty()) result += separator;
    result += name;
  }
  return result;
}

namespace {

// The byte that an escape at the beginning of a text stands for.
std::optional<char> escaped_byte(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (text.size() < 4 || text[0] != '\\' || text[1] != 'x') return std::nullopt;
  const std::size_t high = kDigits.find(text[2]), low = kDigits.find(text[3]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<char>(high << 4 | low);
}

}  // namespace

std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t valid = first_invalid_utf8(bytes).value_or(bytes.size());
    for (std::size_t i = 0; i < valid; ++i) {
      const bool is_plain = bytes[i] != '\0' && !escaped_byte(bytes.substr(i));
      text += is_plain ? std::string(1, bytes[i]) : fmt::format("\\x{:02X}", static_cast<unsigned char>(bytes[i]));
    }
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    text += fmt::format("\\x{:02X}", static_cast<unsigned char>(bytes[0]));
    bytes.remove_prefix(1);
  }
  return text;
}

std::string bytes_of_utf8(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::optional<char> byte = escaped_byte(text);
    bytes += byte.value_or(text[0]);
    text.remove_prefix(byte ? 4 : 1);
  }
  return bytes;
}

}  // namespace jari
