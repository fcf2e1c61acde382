#pragma once
// Which pieces have ids.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jari {

struct VocabularySettings {
  std::optional<std::int64_t> size;    // ids at most, special tokens among them
  std::int64_t min_count = 1;          // pieces that occur less often have no id
  std::optional<std::string> unknown;  // token that stands for pieces without an id; without it they are left out
  std::vector<std::string> special;    // tokens that have ids whether the text holds them or not
};

// Id i is pieces()[i]: `unknown`, then `special`, then by falling count. Pieces are bytes, not always whole characters.
class Vocabulary {
 public:
  Vocabulary() = default;
  Vocabulary(std::vector<std::string> pieces, std::vector<std::int64_t> counts, std::optional<std::int32_t> unknown,
             std::int32_t special);
  // Copies would share no index: the views into one's pieces.
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  std::int32_t size() const { return static_cast<std::int32_t>(pieces_.size()); }
  const std::vector<std::string>& pieces() const { return pieces_; }
  const std::vector<std::int64_t>& counts() const {
    return counts_;
  }  // in the corpus; of `unknown`, what it stands for
  std::optional<std::int32_t> unknown() const { return unknown_; }
  std::int32_t special() const { return special_; }  // ids 0 to special()-1 are no pieces of text

  // Of a piece of text; nothing if it has none. Text that looks like a special token is not that token.
  std::optional<std::int32_t> find(std::string_view piece) const;

 private:
  std::vector<std::string> pieces_;
  std::vector<std::int64_t> counts_;
  std::optional<std::int32_t> unknown_;
  std::int32_t special_ = 0;
  std::unordered_map<std::string_view, std::int32_t> ids_;
};

// Distinct pieces by number: in the order in which they first appeared, or a tokenizer's own ids.
struct CountedPieces {
  std::int32_t size;
  std::function<std::string_view(std::int32_t)> piece;
  std::function<std::int64_t(std::int32_t)> count;
};

struct ChosenVocabulary {
  Vocabulary vocabulary;
  std::vector<std::int32_t> id_of;  // by number: the id, or -1 for a piece that is left out
};

// The most frequent pieces; of equally frequent ones those of the smaller number, which is the first in the corpus, as
// in Python's Counter.most_common: the order depends on the corpus alone.
ChosenVocabulary choose_vocabulary(const CountedPieces& counted, const VocabularySettings& settings);

}  // namespace jari
