#pragma once
// The merges of byte-pair encoding (Sennrich et al. 2016): of the pairs of neighbors in a word, the one that was merged
// first in training is merged first, until none is left.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jari {

struct PairMerge {
  std::int32_t left, right, result;
};

class PairMerges {
 public:
  struct Merge {
    std::int32_t rank = -1, result = -1;
  };

  // Ranks are places in the list; of a pair that is there twice the first counts.
  PairMerges() : PairMerges(std::vector<PairMerge>{}) {}
  explicit PairMerges(std::vector<PairMerge> list);

  const std::vector<PairMerge>& list() const { return list_; }
  const Merge* find(std::int32_t left, std::int32_t right) const;  // null if the pair is not merged

  // Merges the ids of a word in place; returns how many remain at the beginning. Words of at most `longest_list` parts,
  // not more than kLongestList, look for the next merge in a list, longer ones in a heap; tests set it.
  static constexpr std::size_t kLongestList = 64;
  std::size_t merge(std::span<std::int32_t> parts, std::size_t longest_list = kLongestList) const;

 private:
  // In one table with open addressing: a look-up is the innermost step.
  struct Slot {
    std::uint64_t pair;
    Merge merge;
  };

  void insert(const PairMerge& merge, std::int32_t rank);
  std::size_t merge_in_list(std::span<std::int32_t> parts) const;
  std::size_t merge_in_heap(std::span<std::int32_t> parts) const;

  std::vector<PairMerge> list_;
  std::vector<Slot> slots_;
};

}  // namespace jari
