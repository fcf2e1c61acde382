#include "framework/component/word_analysis.hpp"

#include <algorithm>

#include "framework/table/retrieval.hpp"
#include "framework/text/text_steps.hpp"

namespace jari {

AnalyzedTable analyzed_table(const AnalysisContext& context, const std::string& path) {
  if (context.table) return {context.table, ""};
  if (context.words.empty()) return {nullptr, "the model has no words: its task makes tokens of its own"};
  const auto weights = context.weights("model/" + path);
  if (!weights) return {nullptr, "the model has no weight '" + path + "'"};
  const auto rows = static_cast<std::int64_t>(context.words.size());
  if (weights->shape.rank() != 2 || weights->shape[0] != rows)
    return {nullptr, "the weight '" + path + "' has not one row a word"};
  RowMatrix matrix(rows, weights->shape[1]);
  std::transform(weights->values.begin(), weights->values.end(), matrix.values().begin(),
                 [](double value) { return static_cast<float>(value); });
  if (!all_finite(matrix.values())) return {nullptr, "the weight '" + path + "' holds numbers that are not finite"};
  WordList words;
  words.reserve(rows);
  for (const std::string& word : context.words) {
    if (!words.add(word)) return {nullptr, "the vocabulary holds '" + word + "' twice"};
  }
  return {std::make_shared<WordTable>(std::move(words), std::move(matrix),
                                      std::vector<std::int64_t>(context.counts.begin(), context.counts.end())),
          ""};
}

AnalyzedTable composed_table(const AnalysisContext& context, const AnalyzedTable& table,
                             const std::vector<std::string>& words) {
  if (!context.pieces) return {nullptr, "the spec has no tokenizer to cut words with"};
  std::vector<MeanVector> means;
  WordList known;
  for (const std::string& word : words) {
    MeanVector mean = mean_vector(*table.table, context.pieces(" " + word));  // as inside a text
    if (!mean.rows.empty() && known.add(word)) means.push_back(std::move(mean));
  }
  if (means.empty()) return {nullptr, "no word has a piece with a row"};
  RowMatrix rows(static_cast<std::int64_t>(means.size()), table.table->width());
  for (std::size_t i = 0; i < means.size(); ++i) {
    std::transform(means[i].values.begin(), means[i].values.end(), rows.row(static_cast<std::int64_t>(i)).begin(),
                   [](double value) { return static_cast<float>(value); });
  }
  return {std::make_shared<WordTable>(std::move(known), std::move(rows)), ""};
}

AnalysisResult skipped_analysis(std::string reason) {
  AnalysisResult result;
  result.skipped = std::move(reason);
  return result;
}

AnalysisArray text_array(std::string name, Shape shape, std::vector<std::string> texts, std::vector<std::string> axes) {
  return {std::move(name), std::move(shape), {}, std::move(axes), std::move(texts)};
}

std::vector<std::string> written_forms(const std::string& word) {
  return {word, std::string(kWordStart) + word, " " + word};
}

std::optional<std::int64_t> row_of_written(const WordTable& table, const std::string& word) {
  for (const std::string& form : written_forms(word)) {
    if (const auto row = table.find(form)) return row;
  }
  return std::nullopt;
}

std::vector<std::int64_t> known_rows(const WordTable& table, const std::vector<std::string>& words,
                                     std::vector<std::string>& unknown) {
  std::vector<std::int64_t> rows;
  for (const std::string& word : words) {
    if (const auto row = row_of_written(table, word)) {
      rows.push_back(*row);
    } else {
      unknown.push_back(word);
    }
  }
  return rows;
}

}  // namespace jari
