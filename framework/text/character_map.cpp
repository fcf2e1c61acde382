#include "framework/text/character_map.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <cstring>

#include "framework/base/error.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

// A unit of the double array: the label of the edge that leads to a node, where its children are (relative to it, by
// exclusive or), and whether one of them is a leaf; a leaf holds a value.
bool is_leaf(std::uint32_t unit) { return (unit >> 31) != 0; }
bool has_leaf(std::uint32_t unit) { return ((unit >> 8) & 1) != 0; }
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }
std::uint32_t value(std::uint32_t unit) { return unit & 0x7FFFFFFF; }

std::size_t grapheme_end(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  auto last = static_cast<utf8proc_int32_t>(next_code_point(text, end));
  utf8proc_int32_t state = 0;
  while (end < text.size()) {
    std::size_t behind = end;
    const auto next = static_cast<utf8proc_int32_t>(next_code_point(text, behind));
    if (utf8proc_grapheme_break_stateful(last, next, &state)) break;
    last = next;
    end = behind;
  }
  return end;
}

}  // namespace

CharacterMap::CharacterMap(std::string_view bytes) {
  std::uint32_t size = 0;  // of the trie, in bytes
  if (bytes.size() >= sizeof(size)) std::memcpy(&size, bytes.data(), sizeof(size));
  if (bytes.size() < sizeof(size) || size % 4 != 0 || size == 0 || size > bytes.size() - sizeof(size))
    throw StoreError(fmt::format("a charsmap of {} bytes says that its trie has {}", bytes.size(), size));
  units_.resize(size / 4);
  std::memcpy(units_.data(), bytes.data() + sizeof(size), size);
  texts_ = bytes.substr(sizeof(size) + size);
  if (first_invalid_utf8(texts_)) throw StoreError("a charsmap whose texts are not UTF-8");
  if (!is_sound()) throw StoreError("a charsmap whose trie leads out of it");
}

// Whether all children of all nodes are units, and all leaves hold where a text begins.
bool CharacterMap::is_sound() const {
  if (texts_.empty() || texts_.back() != '\0') return false;
  for (std::size_t node = 0; node < units_.size(); ++node) {
    const std::uint32_t unit = units_[node];
    if (is_leaf(unit) && node > 0) continue;  // the first is where all begin
    const std::size_t children = node ^ offset(unit);
    if ((children | 0xFF) >= units_.size()) return false;
    if (!has_leaf(unit)) continue;
    const std::size_t begin = value(units_[children]);
    if (begin >= texts_.size() || (texts_[begin] & 0xC0) == 0x80) return false;
  }
  return true;
}

// What the shortest known sequence that `text` begins with becomes.
std::optional<std::string_view> CharacterMap::find(std::string_view text) const {
  std::size_t node = offset(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    node ^= byte;
    const std::uint32_t unit = units_[node];
    if (byte == 0 || label(unit) != byte) return std::nullopt;
    node ^= offset(unit);
    if (has_leaf(unit)) return texts_.c_str() + value(units_[node]);
  }
  return std::nullopt;
}

void CharacterMap::append(std::string_view grapheme, std::string& result) const {
  constexpr std::size_t kLongestWhole = 5;
  const auto whole = grapheme.size() <= kLongestWhole ? find(grapheme) : std::nullopt;
  if (whole) {
    result += *whole;
    return;
  }
  for (std::size_t end = 0; end < grapheme.size();) {
    const std::size_t begin = end;
    next_code_point(grapheme, end);
    const std::string_view character = grapheme.substr(begin, end - begin);
    result += find(character).value_or(character);
  }
}

std::string CharacterMap::apply(std::string_view text) const {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = grapheme_end(text, begin);
    append(text.substr(begin, end - begin), result);
    begin = end;
  }
  return result;
}

}  // namespace jari
