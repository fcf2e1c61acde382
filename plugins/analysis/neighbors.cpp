// The nearest words of words, in the model's table: what a person looks at first.
//
// Arrays: `word` [words], `neighbor` and `cosine` (or `dot`) [words, count], nearest first; `unknown`: words that the
// vocabulary does not have.

#include <algorithm>

#include "framework/plugin_api.hpp"

namespace jari {

inline const EnumNames<Closeness>& enum_names(Closeness) {
  static const EnumNames<Closeness> names{{Closeness::cosine, "cosine"}, {Closeness::dot, "dot"}};
  return names;
}

namespace {

struct NeighborsParameters {
  std::vector<std::string> words;
  std::int64_t count = 10;
  Closeness by = Closeness::cosine;
  std::string tensor = "embedding";
  template <class F>
  void fields(F& f) {
    f("words", words, "words to look around", required);
    f("count", count, "neighbors of each", between(1, 10000));
    f("by", by, "what is nearest");
    f("tensor", tensor, "the table: a weight of the model with a row a word");
  }
  void check(FieldChecks& checks) const {
    if (words.empty()) checks.error("words", "there is nothing to look around", "give a word or more");
  }
};

class Neighbors final : public Analysis {
 public:
  explicit Neighbors(const NeighborsParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const AnalyzedTable analyzed = analyzed_table(context, parameters_.tensor);
    if (!analyzed.table) return skipped_analysis(analyzed.skipped);
    const WordTable& table = *analyzed.table;
    std::vector<std::string> unknown;
    const std::vector<std::int64_t> rows = known_rows(table, parameters_.words, unknown);
    AnalysisResult result = tabulate(table, rows);
    const auto unknown_count = static_cast<std::int64_t>(unknown.size());
    if (unknown_count > 0)
      result.arrays.push_back(text_array("unknown", {unknown_count}, std::move(unknown), {"word"}));
    return result;
  }

 private:
  AnalysisResult tabulate(const WordTable& table, const std::vector<std::int64_t>& rows) const {
    if (rows.empty()) return skipped_analysis("none of the words is in the vocabulary");
    const std::int64_t count = std::min(parameters_.count, table.size() - 1);
    ThreadPool pool(1);
    const NeighborSearch search(table, parameters_.by, pool);
    std::vector<std::string> words, neighbors;
    std::vector<double> scores;
    for (const std::int64_t row : rows) {
      const std::vector<std::vector<std::int64_t>> excluded = {{row}};
      words.emplace_back(table.word(row));
      const std::vector<std::vector<NearRow>> found = search.find(table.row(row), count, excluded);
      for (const NearRow& each : found.front()) {
        neighbors.emplace_back(table.word(each.row));
        scores.push_back(static_cast<double>(each.score));
      }
    }
    const auto total = static_cast<std::int64_t>(rows.size());
    AnalysisResult result;
    result.arrays.push_back(text_array("word", {total}, std::move(words), {"word"}));
    result.arrays.push_back(text_array("neighbor", {total, count}, std::move(neighbors), {"word", "rank"}));
    const char* score = parameters_.by == Closeness::cosine ? "cosine" : "dot";
    result.arrays.push_back({score, {total, count}, std::move(scores), {"word", "rank"}});
    return result;
  }

  NeighborsParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::Neighbors, jari::NeighborsParameters>("neighbors",
                                                                           "the nearest words of words in a table");
}
