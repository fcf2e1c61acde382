#pragma once
// Offsets in one block of memory for buffers whose lifetimes are known beforehand.

#include <cstddef>
#include <map>

namespace jari {

// First fit at the lowest offset, in the order of the program: small and close together, which caches like.
class ArenaLayout {
 public:
  static constexpr std::size_t kAlignment = 64;

  // Offset of a free stretch of `bytes` (rounded up to the alignment).
  std::size_t take(std::size_t bytes);
  // Gives back what take() returned.
  void release(std::size_t offset);
  // Bytes that the block must have.
  std::size_t peak() const { return peak_; }

 private:
  std::map<std::size_t, std::size_t> taken_;  // offset -> bytes
  std::size_t peak_ = 0;
};

}  // namespace jari
