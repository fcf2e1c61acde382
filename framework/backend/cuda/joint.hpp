#pragma once
// One launch for the work of several operands: block b of the launch is block b - first_block of the part that it falls
// to. The table of parts is passed by value, so there are few parts in a launch, and several launches where there are
// many.

#include <algorithm>
#include <vector>

#include "framework/backend/cuda/cuda_kernel.hpp"

namespace jari::cuda {

// `Part` has a `first_block`. A kernel's parameters may take 4096 bytes.
template <class Part>
struct PartTable {
  static constexpr int kMost = 3600 / sizeof(Part);
  int count = 0;
  Part part[kMost];

  __device__ const Part& of_block(std::int64_t block) const {
    int i = count - 1;
    while (part[i].first_block > block) --i;
    return part[i];
  }
};

// `launch(table, blocks)` for some parts at a time; `blocks(part)` are those that a part takes.
template <class Part, class Blocks, class Launch>
void launch_parts(std::vector<Part> parts, const Blocks& blocks, const Launch& launch) {
  using Table = PartTable<Part>;
  for (std::size_t begin = 0; begin < parts.size(); begin += Table::kMost) {
    Table table;
    std::int64_t all = 0;
    for (std::size_t i = begin; i < std::min(parts.size(), begin + Table::kMost); ++i) {
      parts[i].first_block = all;
      all += blocks(parts[i]);
      table.part[table.count++] = parts[i];
    }
    launch(table, all);
  }
}

}  // namespace jari::cuda
