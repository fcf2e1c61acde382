#include "framework/text/pair_merges.hpp"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

namespace jari {
namespace {

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
}

// Fibonacci hashing: the upper bits of a product with 2^64 / golden ratio.
std::size_t slot_of(std::uint64_t pair, std::size_t mask) {
  return static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15u) >> 32) & mask;
}

}  // namespace

PairMerges::PairMerges(std::vector<PairMerge> list) : list_(std::move(list)) {
  std::size_t slots = 64;
  while (slots < list_.size() * 2) slots *= 2;
  slots_.assign(slots, {});
  std::int32_t rank = 0;
  for (const PairMerge& merge : list_) insert(merge, rank++);
}

const PairMerges::Merge* PairMerges::find(std::int32_t left, std::int32_t right) const {
  const std::uint64_t pair = pair_of(left, right);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = slot_of(pair, mask); slots_[slot].merge.rank >= 0; slot = (slot + 1) & mask) {
    if (slots_[slot].pair == pair) return &slots_[slot].merge;
  }
  return nullptr;
}

void PairMerges::insert(const PairMerge& merge, std::int32_t rank) {
  const std::uint64_t pair = pair_of(merge.left, merge.right);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = slot_of(pair, mask);
  for (; slots_[slot].merge.rank >= 0; slot = (slot + 1) & mask) {
    if (slots_[slot].pair == pair) return;
  }
  slots_[slot] = {pair, {rank, merge.result}};
}

std::size_t PairMerges::merge(std::span<std::int32_t> parts, std::size_t longest_list) const {
  return parts.size() <= std::min(longest_list, kLongestList) ? merge_in_list(parts) : merge_in_heap(parts);
}

std::size_t PairMerges::merge_in_list(std::span<std::int32_t> parts) const {
  std::size_t count = parts.size();
  std::array<Merge, kLongestList> merges;  // of part i with the next
  const auto look_up = [&](std::size_t i) {
    const Merge* found = i + 1 < count ? find(parts[i], parts[i + 1]) : nullptr;
    merges[i] = found ? *found : Merge{};
  };
  for (std::size_t i = 0; i < count; ++i) look_up(i);
  for (;;) {
    std::size_t best = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (merges[i].rank >= 0 && (best == count || merges[i].rank < merges[best].rank)) best = i;
    }
    if (best == count) return count;
    parts[best] = merges[best].result;
    std::copy(parts.begin() + static_cast<std::ptrdiff_t>(best) + 2, parts.begin() + static_cast<std::ptrdiff_t>(count),
              parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    std::copy(merges.begin() + best + 2, merges.begin() + count, merges.begin() + best + 1);
    --count;
    look_up(best);
    if (best > 0) look_up(best - 1);
  }
}

// Parts are a linked list; the heap holds every merge that was possible at some time, and those that no longer are,
// since one of the two has been merged otherwise, are dropped when they come up.
std::size_t PairMerges::merge_in_heap(std::span<std::int32_t> parts) const {
  struct Candidate {
    std::int32_t rank;
    std::size_t left, right;
    std::int32_t left_id, right_id, result;
    bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
  };
  const std::size_t count = parts.size();
  std::vector<std::size_t> next(count), previous(count);
  std::priority_queue<Candidate> heap;
  const auto offer = [&](std::size_t left, std::size_t right) {
    if (right == count) return;
    if (const Merge* merge = find(parts[left], parts[right])) {
      heap.push({merge->rank, left, right, parts[left], parts[right], merge->result});
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    previous[i] = i == 0 ? count : i - 1;
    offer(i, i + 1);
  }
  while (!heap.empty()) {
    const Candidate merge = heap.top();
    heap.pop();
    if (parts[merge.left] != merge.left_id || parts[merge.right] != merge.right_id || next[merge.left] != merge.right)
      continue;
    parts[merge.left] = merge.result;
    parts[merge.right] = -1;
    next[merge.left] = next[merge.right];
    if (next[merge.left] != count) previous[next[merge.left]] = merge.left;
    if (previous[merge.left] != count) offer(previous[merge.left], merge.left);
    offer(merge.left, next[merge.left]);
  }
  return static_cast<std::size_t>(std::remove(parts.begin(), parts.end(), -1) - parts.begin());
}

}  // namespace jari
