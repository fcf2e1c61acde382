#pragma once
// A table of word vectors: f32 rows, each with a word.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/table/word_list.hpp"

namespace jari {

// Row-major f32 [rows, width]. Memory is taken without writing it, and grows in place where the system can.
class RowMatrix {
 public:
  RowMatrix(std::int64_t rows, std::int64_t width);

  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return width_; }
  std::span<float> row(std::int64_t row) { return {values_.get() + row * width_, static_cast<std::size_t>(width_)}; }
  std::span<const float> row(std::int64_t row) const {
    return {values_.get() + row * width_, static_cast<std::size_t>(width_)};
  }
  std::span<float> values() { return {values_.get(), static_cast<std::size_t>(rows_ * width_)}; }
  std::span<const float> values() const { return {values_.get(), static_cast<std::size_t>(rows_ * width_)}; }

  void resize(std::int64_t rows);  // keeps the rows that fit; new ones are not initialized

 private:
  struct Free {
    void operator()(float* values) const { std::free(values); }
  };
  std::int64_t rows_ = 0, width_ = 0;
  std::unique_ptr<float, Free> values_;
};

class WordTable {
 public:
  // As many words as rows; counts for all or none. All values finite (`refuse_non_finite`).
  WordTable(WordList words, RowMatrix rows, std::vector<std::int64_t> counts = {});
  // Words are the rows' numbers.
  explicit WordTable(RowMatrix rows);

  std::int64_t size() const { return rows_.rows(); }
  std::int64_t width() const { return rows_.width(); }
  bool has_words() const { return has_words_; }  // other than row numbers
  std::string_view word(std::int64_t row) const { return words_[row]; }
  std::optional<std::int64_t> find(std::string_view word) const { return words_.find(word); }
  std::span<const float> row(std::int64_t row) const { return rows_.row(row); }
  const RowMatrix& rows() const { return rows_; }
  const std::vector<std::int64_t>& counts() const { return counts_; }  // of the words in their corpus, or none

 private:
  WordList words_;
  RowMatrix rows_;
  std::vector<std::int64_t> counts_;
  bool has_words_ = true;
};

// The row of a word. Error if there is none, with words that look like it: "no word 'kign' among 20167 (did you mean
// 'king'?)".
std::int64_t row_of(const WordTable& table, std::string_view word);
std::vector<std::int64_t> rows_of(const WordTable& table, std::span<const std::string> words);

// StoreError that names the first row with a number that is not finite. `name`: of the file or run.
void refuse_non_finite(const std::string& name, const RowMatrix& rows);
bool all_finite(std::span<const float> values);

}  // namespace jari
