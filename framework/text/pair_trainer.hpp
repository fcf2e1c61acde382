#pragma once
// Finds the merges of byte-pair encoding (Sennrich et al. 2016; Gage 1994): the most frequent pair of neighbors becomes
// a piece, again and again. Words are kept with their counts, each pair with the words that hold it, and the pairs in a
// heap, so that a merge looks only at the words that it changes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/text/pair_merges.hpp"

namespace jari {

// Distinct words as ids of pieces.
struct PairWords {
  std::vector<std::int32_t> parts;   // of all words, one after the other
  std::vector<std::size_t> ends;     // by word: where its parts end
  std::vector<std::int64_t> counts;  // by word: how often it occurs
};

// Adds merges and the pieces that they make to `pieces` until there are `size`, or no pair is left. Of equally frequent
// pairs the one with the smaller left id is merged first, then the one with the smaller right id. Merges of different
// pairs may make the same piece; ids of pieces that are there before stay.
std::vector<PairMerge> train_pairs(PairWords words, std::vector<std::string>& pieces, std::size_t size);

}  // namespace jari
