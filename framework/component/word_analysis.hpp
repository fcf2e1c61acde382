#pragma once
// What analyses of word tables share: the table that they look into, or why there is none.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/component/analysis.hpp"

namespace jari {

struct AnalyzedTable {
  std::shared_ptr<const WordTable> table;
  std::string skipped;  // why there is none
};

// The table that the spec imports, or the weight at `path` below "model/" ("embedding") with the words of the task.
AnalyzedTable analyzed_table(const AnalysisContext& context, const std::string& path);

// A table of `words` whose rows are the means of the rows of their pieces, as the spec's tokenizer cuts them in a text.
// Words of which no piece has a row are left out. Empty if none is left, or the spec has no tokenizer.
AnalyzedTable composed_table(const AnalysisContext& context, const AnalyzedTable& table,
                             const std::vector<std::string>& words);

AnalysisResult skipped_analysis(std::string reason);

// Strings as an array of an analysis.
AnalysisArray text_array(std::string name, Shape shape, std::vector<std::string> texts, std::vector<std::string> axes);

// What a word that a person writes may be called in a vocabulary, the first that is there being meant: as written, or
// as pieces have it where it starts in a text, with U+2581 or a space in front.
std::vector<std::string> written_forms(const std::string& word);

// The row of a word as a person writes it: "저녁" finds the piece "▁저녁" where "저녁" is none.
std::optional<std::int64_t> row_of_written(const WordTable& table, const std::string& word);

// Rows of the words, as a person writes them, that the table has; the others go to `unknown`.
std::vector<std::int64_t> known_rows(const WordTable& table, const std::vector<std::string>& words,
                                     std::vector<std::string>& unknown);

}  // namespace jari
