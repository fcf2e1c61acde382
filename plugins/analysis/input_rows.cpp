// What a model is given of a word: the row of its token, which is the same in every sentence, and the row that enters
// the first block, which is the same at equal positions only, where the positional scheme adds to embeddings.
//
// Arrays of the word's occurrences: `sentence`, `position` and `piece` [occurrences]; `token_row`, `position_row`
// (where the scheme adds any) and `input_row` [occurrences, width]; `token_cosine` and `input_cosine` [occurrences,
// occurrences]. Of a word of several pieces the last is looked at. Arrays of sentence i: `sentence_<i>/piece` [tokens],
// `sentence_<i>/token_row`, `/position_row` and `/input_row` [tokens, width]. Numbers: equal_positions/input_cosine and
// other_positions/input_cosine, means over pairs of occurrences, where there are such pairs.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct InputRowsParameters {
  std::string word;
  std::vector<std::string> sentences;
  template <class F>
  void fields(F& f) {
    f("word", word, "the word to look at", required);
    f("sentences", sentences, "texts that hold it", required);
  }
  void check(FieldChecks& checks) const {
    if (word.empty()) checks.error("word", "there is nothing to look at", "give a word");
    if (sentences.empty()) checks.error("sentences", "there is nothing to read", "give a sentence or more");
  }
};

// Rows of tokens, [tokens, width], with the name of the array that holds them.
struct NamedRows {
  std::string name;
  std::vector<double> values;
  std::span<const double> row(std::size_t position, std::size_t width) const {
    return std::span(values).subspan(position * width, width);
  }
};

class InputRows final : public Analysis {
 public:
  explicit InputRows(const InputRowsParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const WordInSentences found = word_in_sentences(context, parameters_.word, parameters_.sentences);
    if (!found.skipped.empty()) return skipped_analysis(found.skipped);
    const std::optional<AnalysisArray> table = context.weights("model/embedding");
    if (!table) return skipped_analysis("the model has no weight 'embedding'");
    std::vector<std::vector<NamedRows>> rows;
    for (std::size_t i = 0; i < found.sentences.size(); ++i)
      rows.push_back(rows_of(context, table->values, found.sentences[i].ids, found.hidden[i]));
    AnalysisResult result;
    result.arrays = occurrence_arrays(found);
    add_occurrences(result, found, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) add_sentence(result, i, found, rows[i]);
    return result;
  }

 private:
  static std::vector<NamedRows> rows_of(const AnalysisContext& context, std::span<const double> table,
                                        const std::vector<std::int32_t>& ids, const HiddenRows& hidden) {
    std::vector<NamedRows> rows = {{"token", {}}};
    for (const std::int32_t id : ids) {
      const auto row = table.subspan(static_cast<std::size_t>(id) * hidden.width, hidden.width);
      rows.front().values.insert(rows.front().values.end(), row.begin(), row.end());
    }
    const auto length = static_cast<std::int64_t>(ids.size());
    std::optional<AnalysisArray> positions = context.evaluate(
        length, [&](const BuildContext& build) { return context.model->position_table(build, length); });
    if (positions) rows.push_back({"position", std::move(positions->values)});
    const auto size = static_cast<std::ptrdiff_t>(ids.size() * hidden.width);
    rows.push_back({"input", {hidden.values.begin(), hidden.values.begin() + size}});
    return rows;
  }

  static void add_occurrences(AnalysisResult& result, const WordInSentences& found,
                              const std::vector<std::vector<NamedRows>>& rows) {
    const std::size_t count = found.occurrences.size(), width = found.hidden.front().width;
    const auto occurrences = static_cast<std::int64_t>(count);
    for (std::size_t kind = 0; kind < rows.front().size(); ++kind) {
      const std::string& name = rows.front()[kind].name;
      std::vector<double> values;
      for (const Occurrence& at : found.occurrences) {
        const auto row = rows[at.sentence][kind].row(at.position, width);
        values.insert(values.end(), row.begin(), row.end());
      }
      if (name != "position") {
        std::vector<double> cosines = cosine_matrix(values, count);
        if (name == "input") add_means(result, found.occurrences, cosines);
        result.arrays.push_back(
            {name + "_cosine", {occurrences, occurrences}, std::move(cosines), {"occurrence", "occurrence"}});
      }
      result.arrays.push_back(
          {name + "_row", {occurrences, static_cast<std::int64_t>(width)}, std::move(values), {"occurrence", "width"}});
    }
  }

  static void add_means(AnalysisResult& result, const std::vector<Occurrence>& occurrences,
                        const std::vector<double>& cosines) {
    const PairMeans means = pair_means(cosines, occurrences.size(), [&](std::size_t i, std::size_t k) {
      return occurrences[i].position == occurrences[k].position;
    });
    if (means.alike) result.numbers.emplace_back("equal_positions/input_cosine", *means.alike);
    if (means.other) result.numbers.emplace_back("other_positions/input_cosine", *means.other);
  }

  static void add_sentence(AnalysisResult& result, std::size_t index, const WordInSentences& found,
                           const std::vector<NamedRows>& rows) {
    const std::string group = "sentence_" + std::to_string(index) + "/";
    const std::vector<std::string>& pieces = found.sentences[index].pieces;
    const auto length = static_cast<std::int64_t>(pieces.size());
    const auto width = static_cast<std::int64_t>(found.hidden[index].width);
    result.arrays.push_back(text_array(group + "piece", {length}, pieces, {"token"}));
    for (const NamedRows& each : rows)
      result.arrays.push_back({group + each.name + "_row", {length, width}, each.values, {"token", "width"}});
  }

  InputRowsParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::InputRows, jari::InputRowsParameters>(
      "input_rows", "a word's token row and the row that enters the model, in several sentences");
}
