#pragma once
// What a tokenizer does to a text before the words are cut into pieces, and to pieces to make a text of them: the steps
// that Hugging Face's tokenizer.json calls normalizers, pre-tokenizers and decoders. Each does what the step of its
// name does there.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/text/normalizer.hpp"
#include "framework/text/text_place.hpp"

namespace jari {

// U+2581, written in place of a space: it marks where a word starts.
inline constexpr std::string_view kWordStart = "\u2581";

// Cuts a text.
struct Cutter {
  enum class Kind {
    metaspace,      // spaces become `mark`; cut before every one if `split`
    byte_level,     // by GPT-2's pattern if `split`
    white_space,    // which is left out
    before_spaces,  // before every white space and every word start
    gpt2,           // by GPT-2's pattern
    llama3,         // by Llama 3's
    qwen,           // by Qwen's
    punctuation,    // before and behind every mark: category P, and all of ASCII that is no letter, digit or space
  };
  enum class Prefix { never, first, always };  // a space (metaspace: the mark) before a text that has none there
  Kind kind;
  std::string mark = {};
  Prefix prefix = Prefix::never;
  bool split = true;
};

class TextSteps {
 public:
  TextSteps() = default;
  TextSteps(std::vector<Normalizer> normalizers, std::vector<Cutter> cutters)
      : normalizers_(std::move(normalizers)), cutters_(std::move(cutters)) {}

  std::string normalize(std::string_view text, TextPlace place) const;

  using Visit = std::function<void(std::string_view word)>;
  // Of a normalized text.
  void cut(std::string_view text, TextPlace place, const Visit& visit) const { cut_from(0, text, place, visit); }

  // Whether every white space is where a word begins, so that a corpus may be cut there, line ends too.
  bool cuts_at_white_space() const;
  bool byte_level() const;

 private:
  void cut_from(std::size_t step, std::string_view text, TextPlace place, const Visit& visit) const;

  std::vector<Normalizer> normalizers_;
  std::vector<Cutter> cutters_;
};

// Changes pieces, or makes one of several.
struct Joiner {
  enum class Kind {
    replace,        // `from` by `to`, in every piece
    byte_fallback,  // "<0xED>" is its byte
    fuse,           // all become one
    strip,          // up to `start` of `from` at the beginning and `stop` at the end, in every piece
    metaspace,      // `from` is a space; none at the beginning if `start`
    byte_level,     // all become one: they are bytes
    word_piece,     // a space before all but the first that do not begin with `from`, which is left out; if `start`, no
                    // space before marks and English endings
  };
  Kind kind;
  std::string from = {}, to = {};
  std::size_t start = 0, stop = 0;
};

// The text of pieces. Without joiners a space stands between them.
std::string join_pieces(std::vector<std::string> pieces, const std::vector<Joiner>& joiners);

}  // namespace jari
