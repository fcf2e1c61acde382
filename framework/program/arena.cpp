#include "framework/program/arena.hpp"

#include <algorithm>

#include "framework/base/error.hpp"

namespace jari {

std::size_t ArenaLayout::take(std::size_t bytes) {
  bytes = std::max<std::size_t>((bytes + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  std::size_t offset = 0;
  for (const auto& [begin, size] : taken_) {
    if (begin - offset >= bytes) break;
    offset = begin + size;
  }
  taken_[offset] = bytes;
  peak_ = std::max(peak_, offset + bytes);
  return offset;
}

void ArenaLayout::release(std::size_t offset) {
  const std::size_t erased = taken_.erase(offset);
  JARI_ASSERT(erased == 1, "released twice");
}

}  // namespace jari
