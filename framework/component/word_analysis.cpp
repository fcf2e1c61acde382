#include "framework/component/word_analysis.hpp"

#include <algorithm>

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

AnalysisResult skipped_analysis(std::string reason) {
  AnalysisResult result;
  result.skipped = std::move(reason);
  return result;
}

AnalysisArray text_array(std::string name, Shape shape, std::vector<std::string> texts, std::vector<std::string> axes) {
  return {std::move(name), std::move(shape), {}, std::move(axes), std::move(texts)};
}

std::vector<std::int64_t> known_rows(const WordTable& table, const std::vector<std::string>& words,
                                     std::vector<std::string>& unknown) {
  std::vector<std::int64_t> rows;
  for (const std::string& word : words) {
    if (const auto row = table.find(word)) {
      rows.push_back(*row);
    } else {
      unknown.push_back(word);
    }
  }
  return rows;
}

}  // namespace jari
