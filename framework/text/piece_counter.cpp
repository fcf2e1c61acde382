#include "framework/text/piece_counter.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"

namespace jari {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

}  // namespace

PieceCounter::PieceCounter() : slots_(std::size_t{1} << 12, -1) {}

std::string_view PieceCounter::piece(std::int32_t number) const {
  const Entry& entry = entries_[static_cast<std::size_t>(number)];
  return {entry.bytes, entry.length};
}

std::int32_t PieceCounter::add(std::string_view piece) {
  const auto hash = static_cast<std::uint32_t>(hash64(piece));
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::int32_t number = slots_[slot];
    if (number < 0) return insert(piece, hash, slot);
    Entry& entry = entries_[static_cast<std::size_t>(number)];
    if (entry.hash != hash || std::string_view(entry.bytes, entry.length) != piece) continue;
    ++entry.count;
    return number;
  }
}

std::int32_t PieceCounter::insert(std::string_view piece, std::uint32_t hash, std::size_t slot) {
  if (entries_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw StoreError("more than 2147483647 different pieces in a corpus");
  }
  const auto number = static_cast<std::int32_t>(entries_.size());
  entries_.push_back({keep(piece), static_cast<std::uint32_t>(piece.size()), hash, 1});
  slots_[slot] = number;
  if (entries_.size() * 4 > slots_.size() * 3) grow();
  return number;
}

const char* PieceCounter::keep(std::string_view piece) {
  if (chunk_used_ + piece.size() > chunk_size_) {
    chunk_size_ = std::max(kChunk, piece.size());
    chunk_used_ = 0;
    chunks_.emplace_back(new char[chunk_size_]);  // not std::make_unique: it would write zeros first
  }
  char* bytes = chunks_.back().get() + chunk_used_;
  std::memcpy(bytes, piece.data(), piece.size());
  chunk_used_ += piece.size();
  return bytes;
}

void PieceCounter::grow() {
  const std::size_t size = slots_.size() * 2;
  std::vector<std::int32_t>().swap(slots_);  // before the larger one is there
  slots_.assign(size, -1);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & (size - 1);
    while (slots_[slot] >= 0) slot = (slot + 1) & (size - 1);
    slots_[slot] = static_cast<std::int32_t>(i);
  }
}

}  // namespace jari
