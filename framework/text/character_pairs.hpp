#pragma once
// Byte-pair encoding over characters, as SentencePiece and Hugging Face's `BPE` do it. A character without a piece
// becomes the pieces of its bytes, "<0xED>" and so on, or the unknown piece, or nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/text/pair_merges.hpp"

namespace jari {

struct CharacterPairsOptions {
  bool byte_fallback = false;
  std::optional<std::int32_t> unknown;  // id
  bool fuse_unknown = false;            // one for several in a row
  bool whole_words_first = false;       // a word that is a piece is that piece, whatever the merges say
};

class CharacterPairs {
 public:
  // `pieces`: UTF-8, by id.
  CharacterPairs(std::vector<std::string> pieces, std::vector<PairMerge> merges, CharacterPairsOptions options);

  const std::vector<std::string>& pieces() const { return pieces_; }
  const PairMerges& merges() const { return merges_; }

  // Appends the ids of a word.
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids) const;

 private:
  void add_unknown(std::string_view character, std::size_t begin, std::vector<std::int32_t>& ids) const;
  bool add_bytes(std::string_view character, std::vector<std::int32_t>& ids) const;
  void find_whole_words();

  std::vector<std::string> pieces_;
  PairMerges merges_;
  CharacterPairsOptions options_;
  std::unordered_map<std::string_view, std::int32_t> ids_;
  std::vector<bool> whole_;                  // by id: whether its text as a word gives this one id
  std::vector<std::int32_t> character_ids_;  // by code point, -1: none
  std::int32_t byte_ids_[256];               // -1: none
};

// "<0xED>".
std::string byte_piece(unsigned char byte);
// Nothing if it is no such piece.
std::optional<unsigned char> byte_of_piece(std::string_view piece);

}  // namespace jari
