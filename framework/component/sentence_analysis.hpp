#pragma once
// What analyses of a word in sentences share: the sentences as the model is given them, where the word stands in them,
// and the rows that their tokens have on their way through the model.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/component/analysis.hpp"

namespace jari {

struct SentenceTokens {
  std::vector<std::int32_t> ids;
  std::vector<std::string> pieces;  // of the ids
};

// Where a word stands: at the position of its last piece, the only one that has seen the whole word in a causal model.
struct Occurrence {
  std::size_t sentence = 0, position = 0;
};

// Where pieces in a row are the word, in the order of the sentences. Of the forms in which a word may be written
// (`written_forms`) the first that stands in any of the sentences counts, alone.
std::vector<Occurrence> occurrences_of(const std::string& word, const std::vector<SentenceTokens>& sentences);

// The rows of a sentence's tokens at every place of a model.
struct HiddenRows {
  std::vector<std::string> places;  // "embedding", "block0/attention", "block0" ...
  std::size_t length = 0, width = 0;
  std::vector<double> values;  // [places, length, width]

  std::span<const double> row(std::size_t place, std::size_t position) const {
    return std::span(values).subspan((place * length + position) * width, width);
  }
};

struct WordInSentences {
  std::vector<SentenceTokens> sentences;
  std::vector<HiddenRows> hidden;  // of each sentence
  std::vector<Occurrence> occurrences;
  std::string skipped;  // why there is nothing to look at
};

// Skipped where the spec has no tokenizer, a sentence has no token or more than the model was trained on, the word is
// nowhere, or the model does not show its tokens' rows.
WordInSentences word_in_sentences(const AnalysisContext& context, const std::string& word,
                                  const std::vector<std::string>& texts);

// Mean cosines over pairs of occurrences, those that are alike in what is asked of them and the others; nothing where
// there is no such pair.
struct PairMeans {
  std::optional<double> alike, other;
};
PairMeans pair_means(const std::vector<double>& cosines, std::size_t count,
                     const std::function<bool(std::size_t, std::size_t)>& are_alike);

// What every analysis of a word in sentences tells of its occurrences: `sentence` and `position` (both from 0) and
// `piece`, whose row is looked at.
std::vector<AnalysisArray> occurrence_arrays(const WordInSentences& found);

}  // namespace jari
