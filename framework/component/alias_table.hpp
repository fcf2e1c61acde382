#pragma once
// Draws from a discrete distribution with one look-up (Walker 1977, in Vose's form of 1991).

#include <cstdint>
#include <span>
#include <vector>

namespace jari {

class AliasTable {
 public:
  // Weights >= 0, at least one > 0.
  explicit AliasTable(std::span<const double> weights);

  // Two draws of 32 random bits -> an index.
  std::int32_t draw(std::uint32_t place, std::uint32_t height) const {
    const std::uint64_t cell = (std::uint64_t{place} * cells_.size()) >> 32;
    const Cell& at = cells_[cell];
    return height < at.limit ? static_cast<std::int32_t>(cell) : at.other;
  }

 private:
  struct Cell {
    std::uint32_t limit = 0;  // below it the cell's own index
    std::int32_t other = 0;
  };
  std::vector<Cell> cells_;
};

}  // namespace jari
