#pragma once
// Search by mean vectors: the mean of a question's word vectors against the mean of each document's, best cosine first.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/table/word_table.hpp"

namespace jari {

// The words of a text: split at white space, punctuation taken off at both ends.
std::vector<std::string> words_of_text(std::string_view text);

struct MeanVector {
  std::vector<double> values;        // of the rows of the known words; zeros if there are none
  std::vector<std::int64_t> rows;    // of the known words, in order, with repetitions
  std::vector<std::string> unknown;  // the other words
};
// A word that is not in the table is looked for in lower case before it is unknown.
MeanVector mean_vector(const WordTable& table, const std::vector<std::string>& words);

struct Document {
  std::string title, text;
};
// A document a line: title, a tab, the text; of lines without a tab the text is the title too. StoreError if there is
// none.
std::vector<Document> read_documents(const std::filesystem::path& path);

struct Hit {
  std::size_t document = 0;
  double cosine = 0;
};
// All documents, best first, of equal ones the first. A document without a known word has cosine 0.
std::vector<Hit> retrieve(const MeanVector& question, const std::vector<MeanVector>& documents);

}  // namespace jari
