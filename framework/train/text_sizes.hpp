#pragma once
// How much text each token stands for, so that models with different tokenizers can be compared.

#include <cstdint>
#include <optional>
#include <vector>

#include "framework/component/tokenizer.hpp"
#include "framework/text/vocabulary.hpp"

namespace jari {

struct TextSizes {
  std::vector<std::int32_t> bytes, characters;  // by id; a character is counted where its first byte is
};

// Nothing for a tokenizer whose pieces are not all of the text.
std::optional<TextSizes> text_sizes(const Tokenizer& tokenizer, const Vocabulary& vocabulary);

}  // namespace jari
