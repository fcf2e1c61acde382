// Whether a table finds alike what people find alike: rank correlation of cosines with the judgments of a file such as
// WordSim-353 (Finkelstein and others 2002), as gensim's evaluate_word_pairs takes it.
//
// Numbers: `spearman`, `pearson`, `pairs` (both words known), `unknown`.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct WordSimilarityParameters {
  SpecPath pairs;
  std::int64_t most_frequent = PairsOptions{}.most_frequent;
  bool ignores_case = true;
  std::string tensor = "embedding";
  template <class F>
  void fields(F& f) {
    f("pairs", pairs, "file of two words and a judgment a line, as WordSim-353", required);
    f("most_frequent", most_frequent, "words that count as known, from the first on", at_least(1));
    f("ignores_case", ignores_case, "capitals do not matter");
    f("tensor", tensor, "the table: a weight of the model with a row a word");
  }
  void check(FieldChecks& checks) const { check_file(checks, "pairs", pairs); }
};

class WordSimilarity final : public Analysis {
 public:
  explicit WordSimilarity(const WordSimilarityParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const AnalyzedTable analyzed = analyzed_table(context, parameters_.tensor);
    if (!analyzed.table) return skipped_analysis(analyzed.skipped);
    const PairsAgreement agreement =
        judge_pairs(*analyzed.table, parameters_.pairs.path,
                    {.most_frequent = parameters_.most_frequent, .ignores_case = parameters_.ignores_case});
    if (agreement.pairs < 2) return skipped_analysis("the table knows the words of fewer than two pairs");
    AnalysisResult result;
    result.numbers = {{"spearman", agreement.spearman},
                      {"pearson", agreement.pearson},
                      {"pairs", static_cast<double>(agreement.pairs)},
                      {"unknown", static_cast<double>(agreement.unknown.size())}};
    return result;
  }

 private:
  WordSimilarityParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::WordSimilarity, jari::WordSimilarityParameters>(
      "word_similarity", "whether words are alike that people find alike");
}
