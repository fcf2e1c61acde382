#include "framework/table/word_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/table/letter_case.hpp"

namespace jari {

RowMatrix::RowMatrix(std::int64_t rows, std::int64_t width) : width_(width) {
  JARI_ASSERT(rows >= 0 && width >= 1, "a matrix needs a width");
  resize(rows);
}

void RowMatrix::resize(std::int64_t rows) {
  const auto row_bytes = static_cast<std::size_t>(width_) * sizeof(float);
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(rows, 1));
  if (count > std::numeric_limits<std::size_t>::max() / row_bytes) throw std::bad_alloc();
  void* larger = std::realloc(values_.get(), count * row_bytes);
  if (larger == nullptr) throw std::bad_alloc();
  static_cast<void>(values_.release());
  values_.reset(static_cast<float*>(larger));
  rows_ = rows;
}

WordTable::WordTable(WordList words, RowMatrix rows, std::vector<std::int64_t> counts)
    : words_(std::move(words)), rows_(std::move(rows)), counts_(std::move(counts)) {
  JARI_ASSERT(words_.size() == rows_.rows(), "a word for each row");
  JARI_ASSERT(counts_.empty() || static_cast<std::int64_t>(counts_.size()) == rows_.rows(), "a count for each row");
}

WordTable::WordTable(RowMatrix rows) : WordTable(WordList::numbers(rows.rows()), std::move(rows)) {
  has_words_ = false;
}

namespace {

// Words that a person may have meant, nearest first: the same letters in another case or after a space, then by edit
// distance. Only the first rows are looked at, in time that does not grow with the table.
std::vector<std::string> words_like(const WordTable& table, std::string_view word) {
  constexpr std::int64_t kRowsToTry = 100'000;
  constexpr std::size_t kMost = 3, kLongest = 64;
  if (word.empty() || word.size() > kLongest) return {};
  const std::string folded = lower_case(word);
  const int limit = std::max(1, static_cast<int>(word.size()) / 3);
  std::vector<std::pair<int, std::int64_t>> found;
  for (std::int64_t row = 0; row < std::min(kRowsToTry, table.size()); ++row) {
    std::string_view candidate = table.word(row);
    const bool after_space = candidate.starts_with(' ');
    if (after_space) candidate.remove_prefix(1);
    const auto difference = std::abs(static_cast<int>(candidate.size()) - static_cast<int>(word.size()));
    if (candidate.empty() || difference > limit) continue;
    const int distance = edit_distance(folded, lower_case(candidate));
    if (distance <= limit && distance < static_cast<int>(std::max(word.size(), candidate.size())))
      found.emplace_back(distance, row);
  }
  const std::size_t count = std::min(kMost, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end());
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) words.push_back(fmt::format("'{}'", table.word(found[i].second)));
  return words;
}

}  // namespace

std::int64_t row_of(const WordTable& table, std::string_view word) {
  if (const auto row = table.find(word)) return *row;
  if (!table.has_words()) {
    throw Error(
        fmt::format("no row '{}': this table has no words, so rows go by their numbers, 0 to {}; give its words "
                    "with --words FILE",
                    word, table.size() - 1));
  }
  const std::vector<std::string> near = words_like(table, word);
  throw Error(fmt::format("no word '{}' among {}{}", word, table.size(),
                          near.empty() ? "" : fmt::format("; did you mean {}?", joined(near, " or "))));
}

std::vector<std::int64_t> rows_of(const WordTable& table, std::span<const std::string> words) {
  std::vector<std::int64_t> rows;
  for (const std::string& word : words) rows.push_back(row_of(table, word));
  return rows;
}

bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  bool finite = true;
  for (const float value : values) finite &= (std::bit_cast<std::uint32_t>(value) & kExponent) != kExponent;
  return finite;
}

void refuse_non_finite(const std::string& name, const RowMatrix& rows) {
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    if (all_finite(rows.row(row))) continue;
    throw StoreError(
        fmt::format("{}: row {} holds a number that is not finite (NaN or infinity); take it out", name, row));
  }
}

}  // namespace jari
