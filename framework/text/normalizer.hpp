#pragma once
// Steps that change a text before it is cut: what Hugging Face's tokenizer.json calls normalizers. Each does what the
// step of its name does there.

#include <memory>
#include <string>
#include <string_view>

#include "framework/text/text_place.hpp"

namespace jari {

class CharacterMap;

struct Normalizer {
  enum class Kind {
    nfc,
    nfd,
    nfkc,
    nfkd,
    lower_case,
    prepend,               // `to` before the text, if there is any
    replace,               // `from` by `to`
    start_lines,           // "\n" before a line that is not empty by `to`
    join_spaces,           // two or more spaces by `to`
    strip_left,            // without white space at the beginning
    strip_right,           // and at the end
    strip_marks,           // without characters that combine with the one before (category M)
    strip_accents,         // decomposed, without those of them that take no room (category Mn)
    clean,                 // without control characters; all white space is a space
    space_out_ideographs,  // a space before and behind each Chinese character
    character_map,         // by `map`
  };
  Kind kind;
  std::string from = {}, to = {};
  std::shared_ptr<const CharacterMap> map = {};
};

void apply(const Normalizer& step, TextPlace place, std::string& text);

// Every `from` in `text` by `to`.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace jari
