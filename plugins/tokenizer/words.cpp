// Words: what stands between white space, without the signs at both ends, stemmed.

#include <algorithm>
#include <array>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct WordsParameters {
  std::string strip = "\"'()[].,·;:!?«»“”‘’";
  bool strip_punctuation = false;
  bool lower_case = false;
  Slot<Stemmer> stemmer{"none"};

  template <class F>
  void fields(F& f) {
    f("strip", strip, "characters that are taken off both ends of a word");
    f("strip_punctuation", strip_punctuation, "takes off all other punctuation too (Unicode category P)");
    f("lower_case", lower_case, "turns capitals into small letters, before the stemmer");
    f("stemmer", stemmer, "what of a word is its stem");
  }
};

// A set of code points, quick for the most frequent.
class CharacterSet {
 public:
  CharacterSet(std::string_view characters, bool punctuation) : punctuation_(punctuation) {
    for (std::size_t offset = 0; offset < characters.size();) more_.push_back(next_code_point(characters, offset));
    std::sort(more_.begin(), more_.end());
    for (char32_t c = 0; c < ascii_.size(); ++c) ascii_[c] = search(c);
  }
  bool contains(char32_t c) const { return c < ascii_.size() ? ascii_[c] : search(c); }

 private:
  bool search(char32_t c) const {
    return std::binary_search(more_.begin(), more_.end(), c) || (punctuation_ && is_punctuation(c));
  }

  bool punctuation_;
  std::array<bool, 128> ascii_{};
  std::vector<char32_t> more_;
};

class Words final : public Tokenizer {
 public:
  explicit Words(const WordsParameters& parameters)
      : strip_(parameters.strip, parameters.strip_punctuation),
        lower_case_(parameters.lower_case),
        stemmer_(parameters.stemmer) {}

  void split(std::string_view text, PieceList& pieces) const override {
    std::string lowered, scratch;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t space = white_space_at(text, at);
      if (space == 0) {
        ++at;
        continue;
      }
      add(text.substr(begin, at - begin), pieces, lowered, scratch);
      begin = at += space;
    }
    add(text.substr(begin), pieces, lowered, scratch);
  }

  std::string content_hash() const override { return stemmer_->content_hash(); }

 private:
  void add(std::string_view word, PieceList& pieces, std::string& lowered, std::string& scratch) const {
    word = stripped(word);
    if (word.empty()) return;
    if (lower_case_) {
      lowered.clear();
      append_lower_case(word, lowered);
      word = lowered;
    }
    const std::string_view stem = stemmer_->stem(word, scratch);
    if (!stem.empty()) pieces.add(stem);
  }

  std::string_view stripped(std::string_view word) const {
    while (!word.empty()) {
      const LastCodePoint last = last_code_point(word, word.size());
      if (!strip_.contains(last.code_point)) break;
      word = word.substr(0, last.begin);
    }
    while (!word.empty()) {
      std::size_t next = 0;
      if (!strip_.contains(next_code_point(word, next))) break;
      word.remove_prefix(next);
    }
    return word;
  }

  CharacterSet strip_;
  bool lower_case_;
  Slot<Stemmer> stemmer_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Tokenizer, jari::Words, jari::WordsParameters>("words",
                                                                    "words between white space, stripped and stemmed");
}
