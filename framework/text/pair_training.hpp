#pragma once
// From the text of a corpus to a byte-pair tokenizer, as a tokenizer.json.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/text/byte_pair.hpp"
#include "framework/text/text_steps.hpp"

namespace jari {

enum class PairMark { word_start, bytes };

struct PairSettings {
  std::int64_t vocabulary = 0;  // pieces in all
  // word_start: characters, with U+2581 before every word; bytes: GPT-2's way.
  PairMark mark = PairMark::word_start;
  double coverage = 0.9995;   // of the corpus' characters, how many are of those that are pieces
  bool byte_fallback = true;  // other characters are pieces of their bytes, otherwise <unk>
  std::vector<std::string> special;
  bool nfc = true;  // texts are brought to NFC first
};

class PieceCounter;

// Counts words first; memory grows with the number of distinct ones.
class PairTraining {
 public:
  explicit PairTraining(PairSettings settings);
  ~PairTraining();

  void add(std::string_view text, TextPlace place);

  // The tokenizer.json. Ids: <unk> where there is one, `special`, bytes, characters by code point, then merges in their
  // order. StoreError if the vocabulary is too small for the single pieces, or the corpus too small for it, which
  // `corpus` names.
  std::string finish(const std::string& corpus);

 private:
  PairSettings settings_;
  TextSteps steps_;
  std::unique_ptr<PieceCounter> words_;
};

inline constexpr std::string_view kUnknownPiece = "<unk>";

// A tokenizer.json that holds all: of PairMark::word_start every line that is not empty begins with a word start, as if
// a space stood before it. `pieces`: by id, those of bytes as bytes; <unk> where there is one and `special` come first.
std::string tokenizer_json(const PairSettings& settings, const std::vector<std::string>& pieces,
                           const std::vector<PairMerge>& merges);
// GPT-2's two files as one.
std::string tokenizer_json(const BytePair& pairs);

}  // namespace jari
