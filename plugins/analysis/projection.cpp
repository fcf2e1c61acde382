// A map of the words: principal components of the most frequent ones, how much of the variance they hold, and whether
// they go with frequency or with where a word begins.
//
// Arrays: `word` [words], `coordinates` [words, components], `variance_ratio_by_axis` [components]. Numbers:
// variance_ratio (of all components together), axis_<k>/log_frequency and axis_<k>/word_start: correlations (Pearson),
// where they exist.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct ProjectionParameters {
  std::int64_t words = 300;
  std::int64_t components = 2;
  std::string tensor = "embedding";
  template <class F>
  void fields(F& f) {
    f("words", words, "how many, from the first row on", at_least(2));
    f("components", components, "axes, of the largest variance first", between(1, 1000));
    f("tensor", tensor, "the table: a weight of the model with a row a word");
  }
};

class ProjectionAnalysis final : public Analysis {
 public:
  explicit ProjectionAnalysis(const ProjectionParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const AnalyzedTable analyzed = analyzed_table(context, parameters_.tensor);
    if (!analyzed.table) return skipped_analysis(analyzed.skipped);
    const WordTable& table = *analyzed.table;
    std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(parameters_.words, table.size())));
    if (rows.size() < 2) return skipped_analysis("one word has no variance");
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    ThreadPool pool(1);
    Projection projection = principal_components(table, rows, parameters_.components, pool);
    AnalysisResult result;
    for (const double ratio : projection.variance_ratio) {
      if (result.numbers.empty()) result.numbers.emplace_back("variance_ratio", 0);
      result.numbers.front().second += ratio;
    }
    const std::vector<AxisMeaning> meaning = meaning_of_axes(table, rows, projection);
    for (std::size_t i = 0; i < meaning.size(); ++i) {
      const std::string axis = "axis_" + std::to_string(i + 1);
      if (std::isfinite(meaning[i].log_frequency))
        result.numbers.emplace_back(axis + "/log_frequency", meaning[i].log_frequency);
      if (std::isfinite(meaning[i].word_start))
        result.numbers.emplace_back(axis + "/word_start", meaning[i].word_start);
    }
    std::vector<std::string> words;
    for (const std::int64_t row : rows) words.emplace_back(table.word(row));
    const auto total = static_cast<std::int64_t>(rows.size()), components = projection.components;
    result.arrays.push_back(text_array("word", {total}, std::move(words), {"word"}));
    result.arrays.push_back({"coordinates", {total, components}, std::move(projection.coordinates), {"word", "axis"}});
    result.arrays.push_back({"variance_ratio_by_axis", {components}, std::move(projection.variance_ratio), {"axis"}});
    return result;
  }

 private:
  ProjectionParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::ProjectionAnalysis, jari::ProjectionParameters>(
      "projection", "a map of the words by principal components, and what its axes mean");
}
