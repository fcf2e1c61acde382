#pragma once
// How often each piece occurs: a number for each distinct piece in the order of first appearance, and its count. Made
// for many millions of short pieces: about 35 bytes and its own bytes for each.

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

namespace jari {

class PieceCounter {
 public:
  PieceCounter();

  // Counts one occurrence; returns the piece's number.
  std::int32_t add(std::string_view piece);

  std::int32_t size() const { return static_cast<std::int32_t>(entries_.size()); }
  std::string_view piece(std::int32_t number) const;
  std::int64_t count(std::int32_t number) const { return entries_[static_cast<std::size_t>(number)].count; }

 private:
  struct Entry {
    const char* bytes;
    std::uint32_t length;
    std::uint32_t hash;
    std::int64_t count;
  };

  std::int32_t insert(std::string_view piece, std::uint32_t hash, std::size_t slot);
  const char* keep(std::string_view piece);
  void grow();

  std::deque<Entry> entries_;        // does not move when it grows
  std::vector<std::int32_t> slots_;  // numbers, -1 free; a power of two of them, probed one after the other
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_used_ = 0, chunk_size_ = 0;
};

}  // namespace jari
