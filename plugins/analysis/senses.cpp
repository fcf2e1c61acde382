// Whether a model tells the meanings of one word apart: how alike the word's rows in several sentences are, at every
// place of the model. Before the first block they differ by their positions alone.
//
// Of a word of several pieces the row of its last one is looked at: in a causal model that is the one that has seen the
// whole word. Where it is joined with what follows to one piece, the word is not found; `missing` names sentences
// without it.
//
// Arrays: `sentence`, `position`, `piece` and, with labels, `label` [occurrences]; `place` [places] ("embedding",
// "block0/attention", "block0" ...); `row` [places, occurrences, width]; `cosine` [places, occurrences, occurrences].
// Numbers of a place, means over pairs of occurrences: <place>/within a sense and <place>/between senses, as far as
// there are such pairs; <place>/mean without labels.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct SensesParameters {
  std::string word;
  std::vector<std::string> sentences, labels;
  template <class F>
  void fields(F& f) {
    f("word", word, "the word to look at", required);
    f("sentences", sentences, "texts that hold it", required);
    f("labels", labels, "what the word means in each sentence, in their order: equal labels are one sense");
  }
  void check(FieldChecks& checks) const {
    if (word.empty()) checks.error("word", "there is nothing to look at", "give a word");
    if (sentences.empty()) checks.error("sentences", "there is nothing to read", "give two sentences or more");
    if (!labels.empty() && labels.size() != sentences.size())
      checks.error("labels",
                   std::to_string(labels.size()) + " labels for " + std::to_string(sentences.size()) + " sentences",
                   "give one a sentence, or none");
  }
};

class Senses final : public Analysis {
 public:
  explicit Senses(const SensesParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const WordInSentences found = word_in_sentences(context, parameters_.word, parameters_.sentences);
    if (!found.skipped.empty()) return skipped_analysis(found.skipped);
    if (found.occurrences.size() < 2)
      return skipped_analysis("'" + parameters_.word + "' is found once: there is nothing to compare it with");
    AnalysisResult result;
    result.arrays = occurrence_arrays(found);
    add_labels(result, found);
    add_places(result, found);
    return result;
  }

 private:
  void add_labels(AnalysisResult& result, const WordInSentences& found) const {
    std::vector<std::string> labels, missing = parameters_.sentences;
    for (const Occurrence& at : found.occurrences) {
      if (!parameters_.labels.empty()) labels.push_back(parameters_.labels[at.sentence]);
      std::erase(missing, parameters_.sentences[at.sentence]);
    }
    const auto labeled = static_cast<std::int64_t>(labels.size()), left_out = static_cast<std::int64_t>(missing.size());
    if (labeled > 0) result.arrays.push_back(text_array("label", {labeled}, std::move(labels), {"occurrence"}));
    if (left_out > 0) result.arrays.push_back(text_array("missing", {left_out}, std::move(missing), {"sentence"}));
  }

  void add_places(AnalysisResult& result, const WordInSentences& found) const {
    const std::vector<std::string>& places = found.hidden.front().places;
    const std::size_t count = found.occurrences.size();
    std::vector<double> all_rows, all_cosines;
    for (std::size_t place = 0; place < places.size(); ++place) {
      std::vector<double> rows;
      for (const Occurrence& at : found.occurrences) {
        const auto row = found.hidden[at.sentence].row(place, at.position);
        rows.insert(rows.end(), row.begin(), row.end());
      }
      const std::vector<double> cosines = cosine_matrix(rows, count);
      add_means(result, places[place], found.occurrences, cosines);
      all_rows.insert(all_rows.end(), rows.begin(), rows.end());
      all_cosines.insert(all_cosines.end(), cosines.begin(), cosines.end());
    }
    const auto total = static_cast<std::int64_t>(places.size()), occurrences = static_cast<std::int64_t>(count),
               width = static_cast<std::int64_t>(found.hidden.front().width);
    result.arrays.push_back(text_array("place", {total}, places, {"place"}));
    result.arrays.push_back(
        {"row", {total, occurrences, width}, std::move(all_rows), {"place", "occurrence", "width"}});
    result.arrays.push_back(
        {"cosine", {total, occurrences, occurrences}, std::move(all_cosines), {"place", "occurrence", "occurrence"}});
  }

  void add_means(AnalysisResult& result, const std::string& place, const std::vector<Occurrence>& occurrences,
                 const std::vector<double>& cosines) const {
    const std::vector<std::string>& labels = parameters_.labels;
    const PairMeans means = pair_means(cosines, occurrences.size(), [&](std::size_t i, std::size_t k) {
      return labels.empty() || labels[occurrences[i].sentence] == labels[occurrences[k].sentence];
    });
    if (means.alike) result.numbers.emplace_back(place + (labels.empty() ? "/mean" : "/within"), *means.alike);
    if (means.other) result.numbers.emplace_back(place + "/between", *means.other);
  }

  SensesParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::Senses, jari::SensesParameters>(
      "senses", "how alike a word's rows in several sentences are, place by place in the model");
}
