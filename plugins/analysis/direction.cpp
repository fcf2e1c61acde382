// Do differences of words point the same way? The cosine between the differences of each two pairs of words, beside
// what random pairs of the table have.
//
// Arrays: `pair` [pairs] ("woman - man"), `cosine` [pairs, pairs]; `unknown`. Numbers: chance/mean, chance/sd and
// chance/high, which 95 of 100 random cosines are below in size; mean: of all that are off the diagonal.

#include <algorithm>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct DirectionParameters {
  std::vector<std::vector<std::string>> pairs;
  std::int64_t chance = 10000;
  std::string tensor = "embedding";
  template <class F>
  void fields(F& f) {
    f("pairs", pairs, "two words each, [from, to]", required);
    f("chance", chance, "random pairs of directions to compare with", between(2, 10'000'000));
    f("tensor", tensor, "the table: a weight of the model with a row a word");
  }
  void check(FieldChecks& checks) const {
    if (pairs.size() < 2)
      checks.error("pairs", "one direction has nothing to be compared with", "give two pairs or more");
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i].size() != 2)
        checks.error("pairs", "entry " + std::to_string(i) + " has " + std::to_string(pairs[i].size()) + " words",
                     "give two, [from, to]");
  }
};

class DirectionAnalysis final : public Analysis {
 public:
  explicit DirectionAnalysis(const DirectionParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const AnalyzedTable analyzed = analyzed_table(context, parameters_.tensor);
    if (!analyzed.table) return skipped_analysis(analyzed.skipped);
    const WordTable& table = *analyzed.table;
    std::vector<Direction> directions;
    std::vector<std::string> names, unknown;
    for (const std::vector<std::string>& pair : parameters_.pairs) {
      std::vector<std::string> missing;
      const std::vector<std::int64_t> rows = known_rows(table, pair, missing);
      (missing.empty() ? names : unknown).push_back(pair[1] + " - " + pair[0]);
      if (missing.empty()) directions.push_back({rows[0], rows[1]});
    }
    if (directions.size() < 2) return skipped_analysis("fewer than two pairs are in the vocabulary");
    AnalysisResult result = compare(table, directions);
    const auto total = static_cast<std::int64_t>(names.size()), left_out = static_cast<std::int64_t>(unknown.size());
    result.arrays.push_back(text_array("pair", {total}, std::move(names), {"pair"}));
    if (left_out > 0) result.arrays.push_back(text_array("unknown", {left_out}, std::move(unknown), {"pair"}));
    return result;
  }

 private:
  AnalysisResult compare(const WordTable& table, const std::vector<Direction>& directions) const {
    AnalysisResult result;
    std::vector<double> cosines;
    double sum = 0;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      for (std::size_t k = 0; k < directions.size(); ++k) {
        cosines.push_back(cosine_of_directions(table, directions[i], directions[k]));
        if (i != k) sum += cosines.back();
      }
    }
    const auto total = static_cast<std::int64_t>(directions.size());
    result.arrays.push_back({"cosine", {total, total}, std::move(cosines), {"pair", "pair"}});
    result.numbers.emplace_back("mean", sum / static_cast<double>(total * (total - 1)));
    const ChanceCosines chance = chance_cosines(table, table.size(), parameters_.chance, /*seed=*/1);
    result.numbers.emplace_back("chance/mean", chance.mean);
    result.numbers.emplace_back("chance/sd", chance.sd);
    result.numbers.emplace_back("chance/high", chance.high);
    return result;
  }

  DirectionParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::DirectionAnalysis, jari::DirectionParameters>(
      "direction", "whether differences of words point the same way, beside random ones");
}
