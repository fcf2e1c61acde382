#pragma once
// WordPiece (Schuster and Nakajima 2012) as BERT and Hugging Face do it: a word is cut into the longest piece that it
// begins with, the longest that the rest begins with, and so on. Pieces that do not begin a word have a prefix, "##".

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/text/piece_trie.hpp"

namespace jari {

struct WordPieceOptions {
  std::int32_t unknown = 0;        // what a word becomes that can not be cut so
  std::string continuing = "##";   // the prefix
  std::size_t longest_word = 100;  // in code points; longer ones are unknown
};

class WordPiece {
 public:
  // `pieces`: UTF-8, by id; `ids`: those of them that texts are cut into.
  WordPiece(std::vector<std::string> pieces, const std::unordered_map<std::string, std::int32_t>& ids,
            const WordPieceOptions& options);

  const std::vector<std::string>& pieces() const { return pieces_; }

  // Appends the ids of a word.
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids) const;

 private:
  std::vector<std::string> pieces_;
  PieceTrie trie_;
  PieceTrie::Place continuing_;
  std::int32_t unknown_;
  std::size_t longest_word_;
};

}  // namespace jari
