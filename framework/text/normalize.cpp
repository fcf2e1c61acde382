#include "framework/text/normalize.hpp"

#include <utf8proc.h>

#include <bitset>
#include <cstdint>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

constexpr auto kCompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
constexpr auto kDecompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
constexpr auto compatible(utf8proc_option_t form) { return static_cast<utf8proc_option_t>(form | UTF8PROC_COMPAT); }
constexpr char32_t kTableEnd = 0x30000;  // planes 0 to 2

// Code points that NFC leaves alone wherever they stand, and before which a text may be cut: starters that are their
// own NFC and never the second half of a composition.
const std::bitset<kTableEnd>& stable_code_points() {
  static const std::bitset<kTableEnd> table = [] {
    std::bitset<kTableEnd> stable;
    stable.set();
    for (char32_t c = 0xD800; c <= 0xDFFF; ++c) stable.reset(c);
    for (char32_t c = 0x1161; c <= 0x11FF; ++c) stable.reset(c);  // Hangul vowels and final consonants compose
    for (char32_t c = 0; c < kTableEnd; ++c) {
      const auto code_point = static_cast<utf8proc_int32_t>(c);
      const utf8proc_property_t* property = utf8proc_get_property(code_point);
      if (property->combining_class != 0) stable.reset(c);
      const bool decomposes = property->decomp_type == 0 && property->decomp_seqindex != UINT16_MAX;
      if (!decomposes || (c >= 0xAC00 && c <= 0xD7A3)) continue;
      utf8proc_int32_t parts[16];
      utf8proc_ssize_t count = utf8proc_decompose_char(code_point, parts, 16, kCompose, nullptr);
      for (utf8proc_ssize_t i = 1; i < count; ++i) stable.reset(static_cast<std::size_t>(parts[i]));
      count = utf8proc_normalize_utf32(parts, count, kCompose);
      if (count != 1 || parts[0] != code_point) stable.reset(c);
    }
    return stable;
  }();
  return table;
}

bool is_stable(char32_t c, const std::bitset<kTableEnd>& table) { return c < kTableEnd && table[c]; }

void append_part(std::string_view text, utf8proc_option_t form, std::vector<utf8proc_int32_t>& buffer,
                 std::string& out) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = static_cast<utf8proc_ssize_t>(text.size());
  buffer.resize(text.size() * 4 + 32);  // enough for all but a few characters of NFKC, which become as many as 18
  const auto decompose = [&] {
    return utf8proc_decompose(bytes, size, buffer.data(), static_cast<utf8proc_ssize_t>(buffer.size()), form);
  };
  utf8proc_ssize_t count = decompose();
  if (count > static_cast<utf8proc_ssize_t>(buffer.size())) {
    buffer.resize(static_cast<std::size_t>(count));
    count = decompose();
  }
  if (count >= 0) count = utf8proc_normalize_utf32(buffer.data(), count, form);
  JARI_ASSERT(count >= 0, utf8proc_errmsg(count));
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    append_utf8(static_cast<char32_t>(buffer[static_cast<std::size_t>(i)]), out);
}

// utf8proc 2.8 takes U+11A7, a vowel of old Hangul, for a final consonant that is none, and would leave it out behind a
// syllable. It composes with nothing, so that the text before and behind it may be looked at alone.
void append_normalized(std::string_view text, utf8proc_option_t form, std::vector<utf8proc_int32_t>& buffer,
                       std::string& out) {
  constexpr std::string_view kVowel = "\u11A7";
  for (std::size_t at; (at = text.find(kVowel)) != std::string_view::npos; text.remove_prefix(at + kVowel.size())) {
    append_part(text.substr(0, at), form, buffer, out);
    out += kVowel;
  }
  append_part(text, form, buffer, out);
}

std::string in_form(std::string_view text, utf8proc_option_t form) {
  std::string result;
  std::vector<utf8proc_int32_t> buffer;
  // A part between two ASCII characters does not depend on its neighbors: they begin no composition's second half.
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    const auto is_ascii = [&](std::size_t i) { return static_cast<unsigned char>(text[i]) < 0x80; };
    while (end < text.size() && !(is_ascii(end) && is_ascii(end - 1))) ++end;
    if (end == begin + 1) {
      result += text[begin];
    } else {
      append_normalized(text.substr(begin, end - begin), form, buffer, result);
    }
    begin = end;
  }
  return result;
}

}  // namespace

std::string_view to_nfc(std::string_view text, std::string& scratch) {
  const std::bitset<kTableEnd>& table = stable_code_points();
  std::vector<utf8proc_int32_t> buffer;
  std::size_t copied = 0;       // of the text, into scratch
  std::size_t last_stable = 0;  // where the last stable code point begins
  bool changed = false;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    if (static_cast<unsigned char>(text[offset]) < 0x80) {
      last_stable = offset++;
      continue;
    }
    if (is_stable(next_code_point(text, offset), table)) {
      last_stable = begin;
      continue;
    }
    if (!changed) scratch.clear();
    changed = true;
    scratch.append(text, copied, last_stable - copied);
    std::size_t next = offset;  // the first stable code point behind it
    while (offset < text.size() && !is_stable(next_code_point(text, offset), table)) next = offset;
    append_normalized(text.substr(last_stable, next - last_stable), kCompose, buffer, scratch);
    offset = copied = last_stable = next;
  }
  if (!changed) return text;
  scratch.append(text, copied, text.size() - copied);
  return scratch;
}

std::string to_nfkc(std::string_view text) { return in_form(text, compatible(kCompose)); }

std::string to_nfd(std::string_view text) { return in_form(text, kDecompose); }

std::string to_nfkd(std::string_view text) { return in_form(text, compatible(kDecompose)); }

}  // namespace jari
