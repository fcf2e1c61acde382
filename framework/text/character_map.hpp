#pragma once
// SentencePiece's compiled rules of normalization, "precompiled_charsmap" in its models and in tokenizer.json: byte
// sequences and the texts that they become.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jari {

class CharacterMap {
 public:
  // The bytes of a charsmap. StoreError if they are none, or lead to where nothing is: libsentencepiece does not look.
  explicit CharacterMap(std::string_view bytes);

  // Equal to Hugging Face's `Precompiled`: what a person takes for one character (a grapheme) is looked up as a whole
  // if it is short, otherwise its code points are.
  std::string apply(std::string_view text) const;

 private:
  bool is_sound() const;
  std::optional<std::string_view> find(std::string_view text) const;
  void append(std::string_view grapheme, std::string& result) const;

  std::vector<std::uint32_t> units_;  // a trie of the byte sequences, as a double array (darts-clone)
  std::string texts_;                 // each ends with NUL
};

}  // namespace jari
