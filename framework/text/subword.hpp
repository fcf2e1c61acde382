#pragma once
// A tokenizer that Hugging Face's tokenizer.json describes: steps that change and cut a text, and a model that gives
// what they leave pieces: byte-pair encoding over bytes (GPT-2) or characters, unigram, or WordPiece. Ids are those of
// Hugging Face's library without post-processing: no special token is added.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/text/byte_pair.hpp"
#include "framework/text/character_pairs.hpp"
#include "framework/text/text_steps.hpp"
#include "framework/text/unigram.hpp"
#include "framework/text/word_piece.hpp"

namespace jari {

// A token that is found in the text itself, before it is cut.
struct AddedToken {
  std::string text;
  std::int32_t id;
  bool normalized;               // looked for in the normalized text
  bool strip_left, strip_right;  // takes the white space beside it
};

using SubwordModel = std::variant<BytePair, CharacterPairs, Unigram, WordPiece>;

class Subword {
 public:
  // A tokenizer.json. `name` is what errors call it. StoreError where it is none, or asks for what is not supported.
  static Subword read(std::string_view json, const std::string& name);

  Subword(TextSteps steps, std::vector<AddedToken> added, SubwordModel model, std::vector<Joiner> joiners);

  // By id: bytes of a byte-level model, otherwise text as the file writes it.
  const std::vector<std::string>& pieces() const;
  const TextSteps& steps() const { return steps_; }

  // Text that looks like an added token is ordinary text from now on.
  void ignore_added_tokens() { added_.clear(); }

  // Appends the ids of a text.
  void encode(std::string_view text, TextPlace place, std::vector<std::int32_t>& ids) const;

  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  template <class Between>
  void cut_out_added(std::string_view text, bool normalized, std::vector<std::int32_t>& ids,
                     const Between& between) const;
  const AddedToken* added_at(std::string_view text, bool normalized) const;

  TextSteps steps_;
  std::vector<AddedToken> added_;         // the longest first
  std::array<bool, 256> begins_added_{};  // by byte: whether one begins with it
  SubwordModel model_;
  std::vector<Joiner> joiners_;
};

}  // namespace jari
