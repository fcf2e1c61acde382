#include "framework/text/byte_pair.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <queue>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
}

// Fibonacci hashing: the upper bits of a product with 2^64 / golden ratio.
std::size_t slot_of(std::uint64_t pair, std::size_t mask) {
  return static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15u) >> 32) & mask;
}

std::size_t contraction_at(std::string_view text, std::size_t offset) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.substr(offset, ending.size()) == ending) return ending.size();
  }
  return 0;
}

// The end of the run of one class that begins at `offset`.
std::size_t run_end(std::string_view text, std::size_t offset, CharacterClass kind) {
  while (offset < text.size()) {
    const std::size_t begin = offset;
    if (character_class(next_code_point(text, offset)) != kind) return begin;
  }
  return offset;
}

CharacterClass class_at(std::string_view text, std::size_t offset) {
  return character_class(next_code_point(text, offset));
}

}  // namespace

std::size_t gpt2_piece_end(std::string_view text, std::size_t offset) {
  if (text[offset] == '\'') {
    if (const std::size_t length = contraction_at(text, offset); length > 0) return offset + length;
  }
  const bool space = text[offset] == ' ' && offset + 1 < text.size();
  const std::size_t begin = space ? offset + 1 : offset;
  const CharacterClass kind = class_at(text, begin);
  if (kind != CharacterClass::white_space) return run_end(text, begin, kind);
  // The last white space of a run belongs to the word behind it (if it is a space) or is a piece of its own.
  const std::size_t end = run_end(text, offset, CharacterClass::white_space);
  if (end == text.size()) return end;
  const std::size_t last = last_code_point(text, end).begin;
  return last == offset ? end : last;
}

const BytePair::Merge* BytePair::find_merge(std::int32_t left, std::int32_t right) const {
  const std::uint64_t pair = pair_of(left, right);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = slot_of(pair, mask); slots_[slot].merge.rank >= 0; slot = (slot + 1) & mask) {
    if (slots_[slot].pair == pair) return &slots_[slot].merge;
  }
  return nullptr;
}

void BytePair::insert_merge(std::int32_t left, std::int32_t right, Merge merge) {
  const std::uint64_t pair = pair_of(left, right);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = slot_of(pair, mask);
  while (slots_[slot].merge.rank >= 0) slot = (slot + 1) & mask;
  slots_[slot] = {pair, merge};
}

void BytePair::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = gpt2_piece_end(text, begin);
    encode_word(text.substr(begin, end - begin), ids);
    begin = end;
  }
}

std::string BytePair::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    JARI_ASSERT(id >= 0 && id < size(), "an id outside of the vocabulary");
    text += pieces_[static_cast<std::size_t>(id)];
  }
  return text;
}

void BytePair::encode_word(std::string_view word, std::vector<std::int32_t>& ids, std::size_t longest_list) const {
  const auto known = ids_.find(word);
  if (known != ids_.end() && whole_[static_cast<std::size_t>(known->second)]) {
    ids.push_back(known->second);
    return;
  }
  const std::size_t begin = ids.size();
  for (const char c : word) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  const std::span<std::int32_t> parts = std::span(ids).subspan(begin);
  const bool in_list = word.size() <= std::min(longest_list, kLongestList);
  ids.resize(begin + (in_list ? merge_in_list(parts) : merge_in_heap(parts)));
}

std::size_t BytePair::merge_in_list(std::span<std::int32_t> parts) const {
  std::size_t count = parts.size();
  std::array<Merge, kLongestList> merges;  // of part i with the next
  const auto look_up = [&](std::size_t i) {
    const Merge* found = i + 1 < count ? find_merge(parts[i], parts[i + 1]) : nullptr;
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
std::size_t BytePair::merge_in_heap(std::span<std::int32_t> parts) const {
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
    if (const Merge* merge = find_merge(parts[left], parts[right])) {
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

// Most words of a text are pieces; that is found once, so that encoding them is one look-up.
void BytePair::find_whole_words() {
  whole_.assign(pieces_.size(), false);
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    ids.clear();
    encode_word(pieces_[i], ids);
    whole_[i] = ids.size() == 1 && ids[0] == static_cast<std::int32_t>(i);
  }
}

}  // namespace jari
