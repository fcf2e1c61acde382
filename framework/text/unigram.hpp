#pragma once
// The unigram model (Kudo 2018) as Hugging Face's `Unigram` does it: of all ways to cut a word into pieces the one
// whose scores have the greatest sum.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/text/piece_trie.hpp"

namespace jari {

class Unigram {
 public:
  // `pieces`: UTF-8, by id; `ids`: those of them that texts are cut into, which have the `scores` by id. Characters
  // without a piece become the pieces of their bytes, "<0xED>" and so on, if `byte_fallback` and there are all of them,
  // otherwise `unknown`, one for several in a row.
  Unigram(std::vector<std::string> pieces, const std::unordered_map<std::string, std::int32_t>& ids,
          std::vector<double> scores, std::int32_t unknown, bool byte_fallback);

  const std::vector<std::string>& pieces() const { return pieces_; }

  // Appends the ids of a word.
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids) const;

 private:
  // The best cut of the first bytes of a word: its score and its last piece.
  struct Cut {
    double score = 0;
    std::size_t last = kNone;  // where the last piece begins
    std::int32_t id = -1;
  };
  static constexpr std::size_t kNone = SIZE_MAX;

  std::vector<Cut> best_cuts(std::string_view word) const;
  void add(std::string_view piece, std::vector<std::int32_t>& ids) const;

  std::vector<std::string> pieces_;
  PieceTrie trie_;
  std::vector<double> scores_;
  double unknown_score_;
  std::int32_t unknown_;
  std::array<std::int32_t, 256> byte_ids_;  // -1: none
};

}  // namespace jari
