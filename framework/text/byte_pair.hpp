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

#include "framework/text/pair_merges.hpp"

namespace jari {

class BytePair {
 public:
  // `vocabulary`: GPT-2's encoder.json, pieces to ids 0, 1, 2 ...; `merges`: its vocab.bpe, a pair a line, the first
  // merged first. StoreError with file and line where they can not be read or do not fit together.
  BytePair(const std::filesystem::path& vocabulary, const std::filesystem::path& merges);

  // From a list of pieces (bytes), by id, and merges of their ids. With `whole_words_first` a word that is a piece is
  // that piece, whatever the merges say. StoreError if one of the 256 bytes has no piece.
  BytePair(std::vector<std::string> pieces, std::vector<PairMerge> merges, bool whole_words_first = false);

  std::int32_t size() const { return static_cast<std::int32_t>(pieces_.size()); }
  const std::vector<std::string>& pieces() const { return pieces_; }  // bytes, by id
  const PairMerges& merges() const { return merges_; }

  // Appends the ids of a text.
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const;

  // The bytes of the pieces. decode(encode(text)) == text.
  std::string decode(std::span<const std::int32_t> ids) const;

  // Appends the ids of a word: bytes that the pattern does not cut. `longest_list`: see PairMerges.
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids,
                   std::size_t longest_list = PairMerges::kLongestList) const;

 private:
  void read_vocabulary(const std::filesystem::path& path);
  void read_merges(const std::filesystem::path& path);
  PairMerge merge_of(std::string_view line, const std::string& place) const;
  void index_pieces();
  void find_whole_words();

  std::vector<std::string> pieces_;
  std::unordered_map<std::string_view, std::int32_t> ids_;
  std::vector<bool> whole_;  // by id: whether its bytes as a word give this one id
  std::int32_t byte_ids_[256] = {};
  PairMerges merges_;
};

}  // namespace jari
