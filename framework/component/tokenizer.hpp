#pragma once
// Family `tokenizer`: the pieces of a text. One that has a vocabulary of its own gives them ids as well; the pieces of
// the others are counted in a corpus, and the most frequent get ids (framework/text/vocabulary.hpp). Called by several
// threads at a time.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/text/piece_list.hpp"

namespace jari {

class Tokenizer {
 public:
  static constexpr const char* kFamily = "tokenizer";
  virtual ~Tokenizer() = default;

  // Appends the pieces of a text (UTF-8), in order. The text of a corpus comes in segments that end before white space.
  virtual void split(std::string_view text, PieceList& pieces) const = 0;

  // Whether line ends are pieces, or parts of some. Of a tokenizer that says no, `split` sees one line at a time (or a
  // segment of a long one) without its end.
  virtual bool keeps_line_ends() const { return false; }

  // Pieces by id, as bytes; null if it has no vocabulary of its own. Then `encode` appends the ids of the pieces.
  virtual const std::vector<std::string>* own_pieces() const { return nullptr; }
  virtual void encode(std::string_view /*text*/, std::vector<std::int32_t>& /*ids*/) const {}

  // Hash of the files that it was made from; "" if there are none. Part of identities.
  virtual std::string content_hash() const { return ""; }
};

}  // namespace jari
