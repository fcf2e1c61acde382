#pragma once
// How much text each token stands for, so that models with different tokenizers can be compared.

#include <cstdint>
#include <optional>
#include <vector>

#include "framework/component/tokenizer.hpp"
#include "framework/text/vocabulary.hpp"

namespace jari {

struct TextSize {
  std::int32_t bytes = 0, characters = 0;  // a character is counted where its first byte is
};

class TextSizes {
 public:
  // Nothing for a tokenizer whose pieces are not all of the text.
  static std::optional<TextSizes> of(const Tokenizer& tokenizer, const Vocabulary& vocabulary);

  // Of a token behind another: a mark where a word starts stands for no space at the beginning of a line.
  TextSize behind(std::int32_t previous, std::int32_t id) const {
    const bool begins_line = ends_line_[static_cast<std::size_t>(previous)];
    return (begins_line ? in_line_begin_ : within_)[static_cast<std::size_t>(id)];
  }

 private:
  std::vector<TextSize> within_, in_line_begin_;  // by id
  std::vector<bool> ends_line_;
};

}  // namespace jari
