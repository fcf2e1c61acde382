// A map of the words: principal components of the most frequent ones, how much of the variance they hold, and whether
// they go with frequency or with where a word begins.
//
// Arrays: `word` [words], `coordinates` [words, components], `variance_ratio_by_axis` [components]. Numbers:
// variance_ratio (of all components together), axis_<k>/log_frequency and axis_<k>/word_start: correlations (Pearson),
// where they exist.
//
// What a map hides is counted for the words of `nearer`: how many others of the map lie nearer to the word, on its
// first two axes, than the word's true nearest neighbor, which is the one of the largest cosine in the whole table. A
// word or a neighbor that the map was not made from is put on it by the map's axes. Arrays: `nearer_word`,
// `nearer_neighbor`, `nearer_count` [nearer], and `unknown`; numbers: nearer/<word>.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

enum class WordOrder { rows, frequency };
inline const EnumNames<WordOrder>& enum_names(WordOrder) {
  static const EnumNames<WordOrder> names{{WordOrder::rows, "rows"}, {WordOrder::frequency, "frequency"}};
  return names;
}

struct ProjectionParameters {
  std::int64_t words = 300;
  WordOrder order = WordOrder::rows;
  std::int64_t components = 2;
  std::vector<std::string> nearer;
  std::string tensor = "embedding";
  template <class F>
  void fields(F& f) {
    f("words", words, "how many", at_least(2));
    f("order", order, "which: the table's first rows, or the most frequent of the corpus, whatever their rows");
    f("components", components, "axes, of the largest variance first", between(1, 1000));
    f("nearer", nearer, "words to count the false neighbors of: those of the map that lie nearer than the true one");
    f("tensor", tensor, "the table: a weight of the model with a row a word");
  }
  void check(FieldChecks& checks) const {
    std::set<std::string> seen;
    for (const std::string& word : nearer) {
      if (!seen.insert(word).second)
        checks.error("nearer", "the word '" + word + "' is there twice", "take one of them out");
      if (word.empty() || word == "." || word.find('/') != std::string::npos)
        checks.error("nearer", "'" + word + "' can not name a number of a run file", "take it out");
    }
  }
};

// The `count` most frequent; of equally frequent ones the lower row.
std::vector<std::int64_t> most_frequent(const WordTable& table, std::size_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(table.size()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  const auto count_of = [&](std::int64_t row) { return table.counts()[static_cast<std::size_t>(row)]; };
  std::stable_sort(rows.begin(), rows.end(), [&](std::int64_t a, std::int64_t b) { return count_of(a) > count_of(b); });
  rows.resize(count);
  return rows;
}

double distance_on_map(std::span<const double> left, std::span<const double> right) {
  return left.size() == 1 ? std::abs(left[0] - right[0]) : std::hypot(left[0] - right[0], left[1] - right[1]);
}

// How many of the map's words, `rows`, lie nearer to `word` than `neighbor` does.
std::int64_t count_nearer(const WordTable& table, const std::vector<std::int64_t>& rows, const Projection& map,
                          std::int64_t word, std::int64_t neighbor) {
  const std::vector<double> place = coordinates_of(map, table.row(word));
  const double distance = distance_on_map(place, coordinates_of(map, table.row(neighbor)));
  const auto components = static_cast<std::size_t>(map.components);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto other = std::span(map.coordinates).subspan(i * components, components);
    const bool is_other = rows[i] != word && rows[i] != neighbor;
    count += is_other && distance_on_map(place, other) < distance ? 1 : 0;
  }
  return count;
}

class ProjectionAnalysis final : public Analysis {
 public:
  explicit ProjectionAnalysis(const ProjectionParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const AnalyzedTable analyzed = analyzed_table(context, parameters_.tensor);
    if (!analyzed.table) return skipped_analysis(analyzed.skipped);
    const WordTable& table = *analyzed.table;
    if (table.size() < 2) return skipped_analysis("one word has no variance");
    if (parameters_.order == WordOrder::frequency && table.counts().empty())
      return skipped_analysis("the table does not tell how often its words occur; leave out order: frequency");
    const std::vector<std::int64_t> rows = mapped_rows(table);
    ThreadPool pool(1);
    Projection projection = principal_components(table, rows, parameters_.components, pool);
    AnalysisResult result = axes(table, rows, projection);
    if (!parameters_.nearer.empty()) add_nearer(result, table, rows, projection, pool);
    std::vector<std::string> words;
    for (const std::int64_t row : rows) words.emplace_back(table.word(row));
    const auto total = static_cast<std::int64_t>(rows.size()), components = projection.components;
    result.arrays.push_back(text_array("word", {total}, std::move(words), {"word"}));
    result.arrays.push_back({"coordinates", {total, components}, std::move(projection.coordinates), {"word", "axis"}});
    result.arrays.push_back({"variance_ratio_by_axis", {components}, std::move(projection.variance_ratio), {"axis"}});
    return result;
  }

 private:
  std::vector<std::int64_t> mapped_rows(const WordTable& table) const {
    const auto count = static_cast<std::size_t>(std::min(parameters_.words, table.size()));
    if (parameters_.order == WordOrder::frequency) return most_frequent(table, count);
    std::vector<std::int64_t> rows(count);
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    return rows;
  }

  static AnalysisResult axes(const WordTable& table, const std::vector<std::int64_t>& rows,
                             const Projection& projection) {
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
    return result;
  }

  void add_nearer(AnalysisResult& result, const WordTable& table, const std::vector<std::int64_t>& rows,
                  const Projection& map, ThreadPool& pool) const {
    const NeighborSearch search(table, Closeness::cosine, pool);
    std::vector<std::string> words, neighbors, unknown;
    std::vector<double> counts;
    for (const std::string& written : parameters_.nearer) {
      const std::optional<std::int64_t> word = row_of_written(table, written);
      if (!word) {
        unknown.push_back(written);
        continue;
      }
      const std::vector<std::vector<std::int64_t>> excluded = {{*word}};
      const std::int64_t neighbor = search.find(table.row(*word), 1, excluded).front().front().row;
      words.emplace_back(table.word(*word));
      neighbors.emplace_back(table.word(neighbor));
      counts.push_back(static_cast<double>(count_nearer(table, rows, map, *word, neighbor)));
      result.numbers.emplace_back("nearer/" + written, counts.back());
    }
    const auto known = static_cast<std::int64_t>(words.size()), left_out = static_cast<std::int64_t>(unknown.size());
    if (known > 0) {
      result.arrays.push_back(text_array("nearer_word", {known}, std::move(words), {"word"}));
      result.arrays.push_back(text_array("nearer_neighbor", {known}, std::move(neighbors), {"word"}));
      result.arrays.push_back({"nearer_count", {known}, std::move(counts), {"word"}});
    }
    if (left_out > 0) result.arrays.push_back(text_array("unknown", {left_out}, std::move(unknown), {"word"}));
  }

  ProjectionParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::ProjectionAnalysis, jari::ProjectionParameters>(
      "projection", "a map of the words by principal components, and what its axes mean");
}
