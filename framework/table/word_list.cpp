#include "framework/table/word_list.hpp"

#include <bit>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"

namespace jari {

WordList WordList::numbers(std::int64_t count) {
  WordList words;
  words.reserve(count);
  for (std::int64_t row = 0; row < count; ++row) words.add(std::to_string(row));
  return words;
}

std::string_view WordList::operator[](std::int64_t row) const {
  const auto i = static_cast<std::size_t>(row);
  const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(bytes_).substr(begin, ends_[i] - begin);
}

std::optional<std::int64_t> WordList::find(std::string_view word) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t found = slots_[slot_of(word)];
  if (found == 0) return std::nullopt;
  return std::int64_t{found} - 1;
}

void WordList::reserve(std::int64_t words) {
  const auto count = static_cast<std::size_t>(words);
  ends_.reserve(count);
  const std::size_t slots = std::bit_ceil(count + count / 2 + 16);
  if (slots > slots_.size()) grow(slots);
}

bool WordList::add(std::string_view word) {
  if (3 * (ends_.size() + 1) > 2 * slots_.size()) grow(slots_.empty() ? 64 : 2 * slots_.size());
  const std::size_t slot = slot_of(word);
  if (slots_[slot] != 0) return false;
  JARI_ASSERT(ends_.size() < std::numeric_limits<std::uint32_t>::max(), "more words than a WordList counts");
  bytes_ += word;
  ends_.push_back(bytes_.size());
  slots_[slot] = static_cast<std::uint32_t>(ends_.size());
  return true;
}

// Where the word stands, or where it would.
std::size_t WordList::slot_of(std::string_view word) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash64(word) & mask;
  while (slots_[slot] != 0 && (*this)[std::int64_t{slots_[slot]} - 1] != word) slot = (slot + 1) & mask;
  return slot;
}

void WordList::grow(std::size_t slots) {
  slots_.assign(slots, 0);
  const std::size_t mask = slots - 1;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    std::size_t slot = hash64((*this)[static_cast<std::int64_t>(i)]) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace jari
