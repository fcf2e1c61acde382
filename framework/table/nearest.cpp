#include "framework/table/nearest.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "framework/base/error.hpp"

namespace jari {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<const RowMajor>;

constexpr std::int64_t kQueriesAtOnce = 512;               // whose best rows are held for every part of the table
constexpr std::int64_t kQueryBlock = 64, kRowBlock = 512;  // of one product, which stays in the cache

// Rows that one task looks through: about sixteen parts of a small table, parts of a few megabytes of a large one.
std::int64_t rows_a_part(std::int64_t rows) {
  const std::int64_t sixteenth = (rows / 16 + kRowBlock) / kRowBlock * kRowBlock;
  return std::clamp<std::int64_t>(sixteenth, kRowBlock, 16 * kRowBlock);
}

bool is_better(const NearRow& left, const NearRow& right) {
  return left.score > right.score || (left.score == right.score && left.row < right.row);
}

// The best of what it is offered.
class BestRows {
 public:
  void start(std::int64_t count) {
    count_ = static_cast<std::size_t>(count);
    heap_.clear();
  }
  // Scores of the rows from `first` on; rows come in order, so that of equal scores the first stays.
  void offer(const float* scores, std::int64_t size, std::int64_t first) {
    std::int64_t i = 0;
    while (i < size && heap_.size() < count_) take({first + i, scores[i]}), ++i;
    constexpr std::int64_t kStride = 32;
    for (; i + kStride <= size; i += kStride) {
      float best = scores[i];
      for (std::int64_t k = 1; k < kStride; ++k) best = scores[i + k] > best ? scores[i + k] : best;
      if (!(best > heap_.front().score)) continue;
      for (std::int64_t k = 0; k < kStride; ++k) replace({first + i + k, scores[i + k]});
    }
    for (; i < size; ++i) replace({first + i, scores[i]});
  }
  const std::vector<NearRow>& found() const { return heap_; }

 private:
  void take(NearRow neighbor) {
    heap_.push_back(neighbor);
    std::push_heap(heap_.begin(), heap_.end(), is_better);
  }
  void replace(NearRow neighbor) {
    if (!(neighbor.score > heap_.front().score)) return;
    std::pop_heap(heap_.begin(), heap_.end(), is_better);
    heap_.back() = neighbor;
    std::push_heap(heap_.begin(), heap_.end(), is_better);
  }

  std::size_t count_ = 0;
  std::vector<NearRow> heap_;  // the worst at the front
};

}  // namespace

std::vector<float> row_norms(const WordTable& table, ThreadPool& pool) {
  constexpr std::int64_t kBlock = 4096;
  std::vector<float> norms(static_cast<std::size_t>(table.size()));
  pool.for_each((table.size() + kBlock - 1) / kBlock, [&](std::int64_t block, int) {
    for (std::int64_t row = block * kBlock; row < std::min(table.size(), (block + 1) * kBlock); ++row) {
      double squares = 0;
      for (const float value : table.row(row)) squares += static_cast<double>(value) * static_cast<double>(value);
      norms[static_cast<std::size_t>(row)] = static_cast<float>(std::sqrt(squares));
    }
  });
  return norms;
}

NeighborSearch::NeighborSearch(const WordTable& table, Closeness by, ThreadPool& pool, std::int64_t rows)
    : table_(table), by_(by), pool_(pool), rows_(rows > 0 ? std::min(rows, table.size()) : table.size()) {
  if (by == Closeness::dot) return;
  scale_ = row_norms(table, pool);
  for (float& norm : scale_) norm = norm > 0 ? 1 / norm : 0;
}

std::vector<float> NeighborSearch::query(std::int64_t row) const {
  const std::span<const float> values = table_.row(row);
  std::vector<float> result(values.begin(), values.end());
  if (by_ == Closeness::cosine)
    for (float& value : result) value *= scale_[static_cast<std::size_t>(row)];
  return result;
}

std::vector<std::vector<NearRow>> NeighborSearch::find(std::span<const float> queries, std::int64_t count,
                                                       std::span<const std::vector<std::int64_t>> excluded) const {
  JARI_ASSERT(count >= 1, "no neighbors are asked for");
  const auto width = static_cast<std::size_t>(table_.width());
  const auto total = static_cast<std::int64_t>(queries.size() / width);
  // Lengths of one, so that products with unit rows are cosines.
  std::vector<float> units(queries.begin(), queries.end());
  for (std::size_t i = 0; by_ == Closeness::cosine && i < static_cast<std::size_t>(total); ++i) {
    Eigen::Map<Eigen::VectorXf> query(units.data() + i * width, table_.width());
    const double norm = query.cast<double>().norm();
    if (norm > 0) query /= static_cast<float>(norm);
  }
  std::vector<std::vector<NearRow>> found;
  found.reserve(static_cast<std::size_t>(total));
  for (std::int64_t first = 0; first < total; first += kQueriesAtOnce) {
    const auto some = static_cast<std::size_t>(std::min(kQueriesAtOnce, total - first));
    std::size_t most_excluded = 0;
    for (std::size_t i = 0; !excluded.empty() && i < some; ++i)
      most_excluded = std::max(most_excluded, excluded[static_cast<std::size_t>(first) + i].size());
    auto part = find_some(std::span(units).subspan(static_cast<std::size_t>(first) * width, some * width),
                          count + static_cast<std::int64_t>(most_excluded));
    for (std::size_t i = 0; i < some; ++i) {
      if (!excluded.empty()) {
        const auto& out = excluded[static_cast<std::size_t>(first) + i];
        std::erase_if(part[i], [&](const NearRow& each) { return std::count(out.begin(), out.end(), each.row) > 0; });
      }
      if (part[i].size() > static_cast<std::size_t>(count)) part[i].resize(static_cast<std::size_t>(count));
      found.push_back(std::move(part[i]));
    }
  }
  return found;
}

std::vector<std::vector<NearRow>> NeighborSearch::find_some(std::span<const float> queries, std::int64_t count) const {
  const std::int64_t width = table_.width(), total = static_cast<std::int64_t>(queries.size()) / width;
  const std::int64_t part_rows = rows_a_part(rows_), parts = (rows_ + part_rows - 1) / part_rows;
  std::vector<std::vector<BestRows>> best(static_cast<std::size_t>(parts));
  pool_.for_each(parts, [&](std::int64_t part, int) {
    std::vector<BestRows>& of_part = best[static_cast<std::size_t>(part)];
    of_part.resize(static_cast<std::size_t>(total));
    for (BestRows& each : of_part) each.start(count);
    const std::int64_t end = std::min(rows_, (part + 1) * part_rows);
    Eigen::MatrixXf products(kRowBlock, std::min(kQueryBlock, total));
    for (std::int64_t first = part * part_rows; first < end; first += kRowBlock) {
      const std::int64_t size = std::min(kRowBlock, end - first);
      const Rows rows(table_.row(first).data(), size, width);
      for (std::int64_t query = 0; query < total; query += kQueryBlock) {
        const std::int64_t some = std::min(kQueryBlock, total - query);
        const Rows block(queries.data() + query * width, some, width);
        auto scores = products.topLeftCorner(size, some);
        scores.noalias() = rows * block.transpose();
        if (!scale_.empty()) scores.array().colwise() *= Eigen::Map<const Eigen::ArrayXf>(scale_.data() + first, size);
        for (std::int64_t i = 0; i < some; ++i)
          of_part[static_cast<std::size_t>(query + i)].offer(products.col(i).data(), size, first);
      }
    }
  });
  std::vector<std::vector<NearRow>> found(static_cast<std::size_t>(total));
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto& of_part : best)
      found[i].insert(found[i].end(), of_part[i].found().begin(), of_part[i].found().end());
    std::sort(found[i].begin(), found[i].end(), is_better);
    if (found[i].size() > static_cast<std::size_t>(count)) found[i].resize(static_cast<std::size_t>(count));
  }
  return found;
}

}  // namespace jari
