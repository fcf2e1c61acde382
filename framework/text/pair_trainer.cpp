#include "framework/text/pair_trainer.hpp"

#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "framework/base/error.hpp"

namespace jari {
namespace {

// Left id above right id: the order of numbers is that in which equally frequent pairs are merged.
using PairKey = std::uint64_t;

PairKey key_of(std::int32_t left, std::int32_t right) {
  return (static_cast<PairKey>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
}

struct KeyHash {
  std::size_t operator()(PairKey key) const {
    const std::uint64_t mixed = key * 0x9E3779B97F4A7C15u;  // Fibonacci hashing: all bits reach the lower ones
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};

struct Pair {
  std::int64_t count = 0;
  bool grew = false;                 // in the merge that is being made
  std::vector<std::uint32_t> words;  // that may hold it
};

struct Candidate {
  std::int64_t count;
  PairKey key;
  bool operator<(const Candidate& other) const { return count != other.count ? count < other.count : key > other.key; }
};

class PairTrainer {
 public:
  PairTrainer(PairWords words, std::vector<std::string>& pieces);
  std::vector<PairMerge> train(std::size_t size);

 private:
  void change(std::int32_t left, std::int32_t right, std::int64_t count, std::uint32_t word);
  void merge(const PairMerge& merge);
  void merge_in_word(const PairMerge& merge, std::uint32_t word);
  std::int32_t piece_of(std::int32_t left, std::int32_t right);
  void offer_those_that_grew();

  PairWords words_;
  std::vector<std::size_t> begins_;  // by word; `ends` moves forward as it shrinks
  std::vector<std::string>& pieces_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::unordered_map<PairKey, Pair, KeyHash> pairs_;
  std::priority_queue<Candidate> heap_;  // counts may be out of date: too high, or followed by a higher one
  std::vector<PairKey> grew_;
  PairKey merging_ = ~PairKey{0};  // no pair
};

PairTrainer::PairTrainer(PairWords words, std::vector<std::string>& pieces)
    : words_(std::move(words)), pieces_(pieces) {
  JARI_ASSERT(words_.ends.size() < UINT32_MAX, "too many distinct words to learn pairs from");
  for (std::size_t i = 0; i < pieces_.size(); ++i) ids_.emplace(pieces_[i], static_cast<std::int32_t>(i));
  begins_.reserve(words_.ends.size());
  for (std::size_t word = 0; word < words_.ends.size(); ++word) {
    begins_.push_back(word == 0 ? 0 : words_.ends[word - 1]);
    for (std::size_t i = begins_[word]; i + 1 < words_.ends[word]; ++i) {
      change(words_.parts[i], words_.parts[i + 1], words_.counts[word], static_cast<std::uint32_t>(word));
    }
  }
  offer_those_that_grew();
}

std::vector<PairMerge> PairTrainer::train(std::size_t size) {
  std::vector<PairMerge> merges;
  std::unordered_set<PairKey, KeyHash> made;
  while (pieces_.size() < size && !heap_.empty()) {
    const Candidate best = heap_.top();
    heap_.pop();
    const auto found = pairs_.find(best.key);
    if (found == pairs_.end() || found->second.count > best.count) continue;
    if (found->second.count < best.count) {
      heap_.push({found->second.count, best.key});
      continue;
    }
    const auto left = static_cast<std::int32_t>(best.key >> 32), right = static_cast<std::int32_t>(best.key);
    const PairMerge next = {left, right, piece_of(left, right)};
    // A piece that a second pair makes can bring back neighbors that were merged before.
    if (made.insert(best.key).second) merges.push_back(next);
    merge(next);
  }
  return merges;
}

std::int32_t PairTrainer::piece_of(std::int32_t left, std::int32_t right) {
  std::string text = pieces_[static_cast<std::size_t>(left)] + pieces_[static_cast<std::size_t>(right)];
  const auto [found, is_new] = ids_.emplace(text, static_cast<std::int32_t>(pieces_.size()));
  if (is_new) pieces_.push_back(std::move(text));
  return found->second;
}

void PairTrainer::merge(const PairMerge& merge) {
  merging_ = key_of(merge.left, merge.right);
  const auto found = pairs_.find(merging_);
  const std::vector<std::uint32_t> words = std::move(found->second.words);
  pairs_.erase(found);
  for (const std::uint32_t word : words) merge_in_word(merge, word);
  offer_those_that_grew();
}

void PairTrainer::merge_in_word(const PairMerge& merge, std::uint32_t word) {
  std::int32_t* parts = words_.parts.data() + begins_[word];
  const std::size_t size = words_.ends[word] - begins_[word];
  const std::int64_t count = words_.counts[word];
  std::size_t out = 0;
  for (std::size_t i = 0; i < size;) {
    if (i + 1 == size || parts[i] != merge.left || parts[i + 1] != merge.right) {
      parts[out++] = parts[i++];
      continue;
    }
    if (out > 0) {
      change(parts[out - 1], merge.left, -count, word);
      change(parts[out - 1], merge.result, count, word);
    }
    if (i + 2 < size) {
      change(merge.right, parts[i + 2], -count, word);
      change(merge.result, parts[i + 2], count, word);
    }
    parts[out++] = merge.result;
    i += 2;
  }
  words_.ends[word] = begins_[word] + out;
}

// A word gains or loses a pair of neighbors, `count` times.
void PairTrainer::change(std::int32_t left, std::int32_t right, std::int64_t count, std::uint32_t word) {
  const PairKey key = key_of(left, right);
  if (key == merging_) return;  // it is gone already
  const auto found = pairs_.try_emplace(key).first;
  Pair& pair = found->second;
  pair.count += count;
  if (pair.count == 0) {
    pairs_.erase(found);
  } else if (count > 0) {
    if (pair.words.empty() || pair.words.back() != word) pair.words.push_back(word);
    if (!std::exchange(pair.grew, true)) grew_.push_back(key);
  }
}

void PairTrainer::offer_those_that_grew() {
  for (const PairKey key : grew_) {
    const auto found = pairs_.find(key);
    if (found == pairs_.end() || !std::exchange(found->second.grew, false)) continue;
    heap_.push({found->second.count, key});
  }
  grew_.clear();
}

}  // namespace

std::vector<PairMerge> train_pairs(PairWords words, std::vector<std::string>& pieces, std::size_t size) {
  return PairTrainer(std::move(words), pieces).train(size);
}

}  // namespace jari
