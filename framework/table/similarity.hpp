#pragma once
// How alike two words are, and how well that agrees with people's judgment.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "framework/table/word_table.hpp"

namespace jari {

// 0 where one of them is all zeros.
double cosine(std::span<const float> left, std::span<const float> right);
// Between each two of `count` rows, [count, width] -> [count, count].
std::vector<double> cosine_matrix(std::span<const double> rows, std::size_t count);
double distance(std::span<const float> left, std::span<const float> right);  // Euclidean

// The cosine between the directions from `from` to `to`: cos(a - b, c - d).
struct Direction {
  std::int64_t from = 0, to = 0;
};
double cosine_of_directions(const WordTable& table, Direction left, Direction right);

// What cosines of directions are by chance: between random pairs of the table's words (of the first `rows`).
struct ChanceCosines {
  std::int64_t pairs = 0;
  double mean = 0, sd = 0, high = 0;  // high: 95 of 100 are below it in size
};
ChanceCosines chance_cosines(const WordTable& table, std::int64_t rows, std::int64_t pairs, std::uint64_t seed);

// A file such as WordSim-353: two words and a number a line, separated by commas or tabs; the first line may be a
// header.
struct PairsOptions {
  std::int64_t most_frequent = 300'000;  // words that count as known, from the first row on
  bool ignores_case = true;
};
struct PairsAgreement {
  double spearman = 0, pearson = 0;  // NaN with fewer than two pairs
  std::int64_t pairs = 0;            // whose words are both known
  std::vector<std::string> unknown;  // "left, right" of the others
};
// StoreError for a file that is none of pairs. The numbers are those of gensim's evaluate_word_pairs.
PairsAgreement judge_pairs(const WordTable& table, const std::filesystem::path& pairs,
                           const PairsOptions& options = {});

// Rank correlation, equal values having the mean of their ranks; NaN where one side does not vary.
double spearman(std::span<const double> left, std::span<const double> right);
double pearson(std::span<const double> left, std::span<const double> right);

}  // namespace jari
