#pragma once
// Nearest rows of a table: exact, by products of matrices, in blocks that the problem alone fixes.

#include <cstdint>
#include <span>
#include <vector>

#include "framework/base/thread_pool.hpp"
#include "framework/table/word_table.hpp"

namespace jari {

enum class Closeness { cosine, dot };

struct NearRow {
  std::int64_t row = 0;
  float score = 0;  // cosine or dot product
  bool operator==(const NearRow&) const = default;
};

// Lengths of all rows.
std::vector<float> row_norms(const WordTable& table, ThreadPool& pool);

class NeighborSearch {
 public:
  // Of the first `rows` rows of the table, or all. The table and the pool must outlive it.
  NeighborSearch(const WordTable& table, Closeness by, ThreadPool& pool, std::int64_t rows = 0);

  // For each query (row-major [queries, width]) the `count` best rows: best first, of equal scores the lower row. Rows
  // in `excluded[i]`, if given, are not among those of query i. A row or a query of zeros has cosine 0 with everything.
  std::vector<std::vector<NearRow>> find(std::span<const float> queries, std::int64_t count,
                                         std::span<const std::vector<std::int64_t>> excluded = {}) const;

  const WordTable& table() const { return table_; }
  std::int64_t rows() const { return rows_; }
  // The row, of length one where closeness is the cosine.
  std::vector<float> query(std::int64_t row) const;

 private:
  std::vector<std::vector<NearRow>> find_some(std::span<const float> queries, std::int64_t count) const;

  const WordTable& table_;
  Closeness by_;
  ThreadPool& pool_;
  std::int64_t rows_;
  std::vector<float> scale_;  // 1 / length of each row; empty for dot products
};

}  // namespace jari
