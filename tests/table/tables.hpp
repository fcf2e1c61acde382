#pragma once
// Small tables for tests, and comparisons of whole ones.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "framework/table/word_table.hpp"

namespace jari::test {

inline WordTable table_of(const std::vector<std::string>& words, const std::vector<std::vector<float>>& rows,
                          std::vector<std::int64_t> counts = {}) {
  WordList list;
  for (const std::string& word : words) list.add(word);
  RowMatrix matrix(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.front().size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(), matrix.row(static_cast<std::int64_t>(i)).begin());
  return {std::move(list), std::move(matrix), std::move(counts)};
}

inline std::vector<std::string> words_of(const WordTable& table) {
  std::vector<std::string> words;
  for (std::int64_t row = 0; row < table.size(); ++row) words.emplace_back(table.word(row));
  return words;
}

inline std::vector<float> values_of(const WordTable& table) {
  const auto values = table.rows().values();
  return {values.begin(), values.end()};
}

// What tests/golden/make_tables.py put into its files.
inline WordTable golden_table() {
  return table_of({"자리", "the", "물리학", "a", "café"},
                  {{0.5F, -1.25F, 3.0F, 1e-3F},
                   {1.0F / 3, 2.0F / 3, -0.1F, 7},
                   {-0.0F, 1e-20F, 12345.678F, -2},
                   {1, 2, 3, 4},
                   {0.1F, 0.2F, 0.3F, 0.4F}},
                  {50, 40, 30, 20, 10});
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace jari::test
