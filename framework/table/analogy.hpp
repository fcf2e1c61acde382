#pragma once
// Sums and differences of word vectors: a is to b as c is to ?, by b - a + c (3CosAdd: Mikolov, Yih and Zweig 2013).

#include <filesystem>
#include <string>
#include <vector>

#include "framework/table/nearest.hpp"

namespace jari {

// What is summed: rows of length one, as gensim and word2vec.c do, or rows as they are.
enum class Summands { unit, raw };

// Sum of the rows `plus` less those of `minus`.
std::vector<float> sum_of_rows(const WordTable& table, std::span<const std::int64_t> plus,
                               std::span<const std::int64_t> minus, Summands summands);

// The rows nearest to that sum, none of them a row that was summed.
std::vector<NearRow> most_similar(const NeighborSearch& search, std::span<const std::int64_t> plus,
                                  std::span<const std::int64_t> minus, std::int64_t count,
                                  Summands summands = Summands::unit);

// A file such as questions-words.txt: lines ": section", and four words a line, "a b c d": a is to b as c is to d.
struct AnalogyOptions {
  std::int64_t most_frequent = 300'000;  // words that count as known, from the first row on
  bool ignores_case = true;
};
struct AnalogySection {
  std::string name;
  std::int64_t correct = 0, asked = 0;  // questions whose four words are known
  std::int64_t unknown = 0;             // questions with a word that is not
};
// In the order of the file. StoreError for a file that is none of questions. The numbers are those of gensim's
// evaluate_word_analogies.
std::vector<AnalogySection> answer_analogies(const WordTable& table, const std::filesystem::path& questions,
                                             const AnalogyOptions& options, ThreadPool& pool);
AnalogySection total_of(const std::vector<AnalogySection>& sections);

}  // namespace jari
