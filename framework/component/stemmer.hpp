#pragma once
// Family `stemmer`: what of a word is its stem.

#include <string>
#include <string_view>

namespace jari {

class Stemmer {
 public:
  static constexpr const char* kFamily = "stemmer";
  virtual ~Stemmer() = default;

  // A part of `word` (UTF-8, not empty), or a text that is made in `scratch`. Empty: the word is left out.
  virtual std::string_view stem(std::string_view word, std::string& scratch) const = 0;

  // Hash of the files that it was made from; "" if there are none. Part of identities.
  virtual std::string content_hash() const { return ""; }
};

}  // namespace jari
