#pragma once
// Family `tokenizer`: the pieces of a text. One that has a vocabulary of its own gives them ids as well; the pieces of
// the others are counted in a corpus, and the most frequent get ids (framework/text/vocabulary.hpp). Called by several
// threads at a time.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/text/corpus_reader.hpp"
#include "framework/text/piece_list.hpp"
#include "framework/text/text_steps.hpp"

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

  // Pieces by id, as bytes; null if it has no vocabulary of its own. Then `encode` appends the ids of the pieces, and
  // `decode` gives the text of ids.
  virtual const std::vector<std::string>* own_pieces() const { return nullptr; }
  virtual void encode(std::string_view /*text*/, TextPlace /*place*/, std::vector<std::int32_t>& /*ids*/) const {}
  virtual std::string decode(std::span<const std::int32_t> /*ids*/) const { return ""; }

  // Whether its pieces, put together, are the text; of one with a vocabulary of its own `decode` tells.
  virtual bool pieces_are_text() const { return false; }

  // One that learns is made in two steps: it has no pieces before `train` has read the corpus, once, and made a model,
  // bytes that are kept with the ids; `with_model` makes the tokenizer that has them.
  virtual bool learns() const { return false; }
  virtual std::string train(CorpusReader& /*corpus*/) const { return ""; }
  virtual std::shared_ptr<const Tokenizer> with_model(std::string_view /*model*/) const { return nullptr; }

  // As Hugging Face's tokenizer.json; "" if it can not be said so.
  virtual std::string to_json() const { return ""; }

  // Hash of the files that it was made from; "" if there are none. Part of identities.
  virtual std::string content_hash() const { return ""; }
};

// `split` of a tokenizer that has a vocabulary of its own.
inline void split_by_ids(const Tokenizer& tokenizer, std::string_view text, PieceList& pieces) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, TextPlace::beginning, ids);
  for (const std::int32_t id : ids) pieces.add((*tokenizer.own_pieces())[static_cast<std::size_t>(id)]);
}

}  // namespace jari
