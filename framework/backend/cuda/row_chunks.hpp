#pragma once
// Rows some at a time, where what is made of all at once would take too much memory, and the products of such chunks.

#include <algorithm>
#include <initializer_list>

#include "framework/backend/cuda/cuda_kernel.hpp"
#include "framework/backend/cuda/slab_product.hpp"

namespace jari::cuda {

// Chunks of equal size but the last, each of up to about `most_elements` elements of `width` a row; a multiple of
// `multiple` rows where there is more than one.
struct RowChunks {
  RowChunks(std::int64_t rows, std::int64_t width, std::int64_t most_elements, std::int64_t multiple = 128)
      : all(rows) {
    const std::int64_t most = std::max<std::int64_t>(1, most_elements / std::max<std::int64_t>(1, width) / multiple);
    each = rows <= most * multiple ? rows
                                   : blocks_of(blocks_of(rows, blocks_of(rows, most * multiple)), multiple) * multiple;
    count = rows == 0 ? 1 : blocks_of(rows, each);  // a chunk of no rows still makes sums of nothing 0
  }

  std::int64_t first(std::int64_t i) const { return i * each; }
  std::int64_t rows(std::int64_t i) const { return std::min(each, all - first(i)); }

  std::int64_t all, each = 0, count = 0;
};

template <class T>
Operand<T> typed(const DeviceOperand& operand) {
  return {static_cast<T*>(operand.data), static_cast<std::int64_t>(operand.stride / sizeof(T))};
}

// What the products of a launch have in common.
struct Run {
  void* workspace;
  int trials;
  DeviceQueue& queue;
};

// The product of each chunk. `shape_of(rows, later)` is that of a chunk of so many rows, the first or a later one.
class ChunkProducts {
 public:
  template <class ShapeOf>
  ChunkProducts(const RowChunks& chunks, const ShapeOf& shape_of) : last_(chunks.count - 1) {
    for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1}, last_}) {
      if (i > last_ || products_[kind(i)]) continue;
      products_[kind(i)] = make_product_in_slabs(shape_of(chunks.rows(i), i > 0));
    }
  }

  std::size_t workspace_bytes(int trials) const {
    std::size_t most = 0;
    for (const auto& product : products_) most = std::max(most, product ? product->workspace_bytes(trials) : 0);
    return most;
  }

  void run(std::int64_t chunk, const DeviceOperand& left, const DeviceOperand& right, const DeviceOperand& result,
           const Run& run) const {
    products_[kind(chunk)]->run({left, right, result, result}, run.workspace, run.trials, run.queue);
  }

 private:
  // Which of products_: the first chunk's, the last one's, or that of those between.
  int kind(std::int64_t chunk) const { return chunk == 0 ? 0 : chunk == last_ ? 2 : 1; }

  std::int64_t last_;
  std::unique_ptr<Product> products_[3];
};

// Products that run one after another share their workspace.
inline std::size_t most_workspace(int trials, std::initializer_list<const ChunkProducts*> products) {
  std::size_t most = 0;
  for (const ChunkProducts* each : products) most = std::max(most, each->workspace_bytes(trials));
  return most;
}

}  // namespace jari::cuda
