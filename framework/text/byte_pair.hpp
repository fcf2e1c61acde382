#pragma once
// Byte-level byte-pair encoding as GPT-2 does it (Radford et al. 2019; Sennrich et al. 2016): text is cut by GPT-2's
// pattern, and within each cut the pair of neighbors that was merged first in training is merged first, until none is
// left. Equal to tiktoken's "gpt2" on ordinary text; special tokens such as <|endoftext|> are not recognized in text.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jari {

// Where GPT-2's pattern ends the piece that begins at `offset`:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t gpt2_piece_end(std::string_view text, std::size_t offset);

class BytePair {
 public:
  // `vocabulary`: GPT-2's encoder.json, pieces to ids 0, 1, 2 ...; `merges`: its vocab.bpe, a pair a line, the first
  // merged first. StoreError with file and line where they can not be read or do not fit together.
  BytePair(const std::filesystem::path& vocabulary, const std::filesystem::path& merges);

  std::int32_t size() const { return static_cast<std::int32_t>(pieces_.size()); }
  const std::vector<std::string>& pieces() const { return pieces_; }  // bytes, by id

  // Appends the ids of a text.
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const;

  // The bytes of the pieces. decode(encode(text)) == text.
  std::string decode(std::span<const std::int32_t> ids) const;

  // Appends the ids of a word: bytes that the pattern does not cut. Words of at most `longest_list` bytes, not more
  // than kLongestList, look for the next merge in a list, longer ones in a heap; tests set it.
  static constexpr std::size_t kLongestList = 64;
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids,
                   std::size_t longest_list = kLongestList) const;

 private:
  struct Merge {
    std::int32_t rank = -1, result = -1;
  };
  // Merges by the ids of the two, in one table with open addressing: a look-up is the innermost step.
  struct MergeSlot {
    std::uint64_t pair;
    Merge merge;
  };

  void read_vocabulary(const std::filesystem::path& path);
  void read_merges(const std::filesystem::path& path);
  void add_merge(std::string_view line, std::int32_t rank, const std::string& place);
  const Merge* find_merge(std::int32_t left, std::int32_t right) const;
  void insert_merge(std::int32_t left, std::int32_t right, Merge merge);
  // Both merge until no pair is left, and return how many parts remain at the beginning.
  std::size_t merge_in_list(std::span<std::int32_t> parts) const;
  std::size_t merge_in_heap(std::span<std::int32_t> parts) const;
  void find_whole_words();

  std::vector<std::string> pieces_;
  std::unordered_map<std::string_view, std::int32_t> ids_;
  std::vector<bool> whole_;  // by id: whether its bytes as a word give this one id
  std::int32_t byte_ids_[256] = {};
  std::vector<MergeSlot> slots_;
};

}  // namespace jari
