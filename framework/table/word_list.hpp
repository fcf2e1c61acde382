#pragma once
// Distinct words by number, and back. One block of bytes and 12 to 20 bytes a word beside it: tables have millions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jari {

class WordList {
 public:
  // "0", "1", ...: for tables without words.
  static WordList numbers(std::int64_t count);

  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  std::string_view operator[](std::int64_t row) const;
  std::optional<std::int64_t> find(std::string_view word) const;

  void reserve(std::int64_t words);
  // False, and nothing is added, if the word is there already.
  bool add(std::string_view word);

 private:
  std::size_t slot_of(std::string_view word) const;
  void grow(std::size_t slots);

  std::string bytes_;
  std::vector<std::uint64_t> ends_;   // of each word in bytes_
  std::vector<std::uint32_t> slots_;  // open addressing by hash: row + 1, or 0
};

}  // namespace jari
