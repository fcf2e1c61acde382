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
    const std::uint64_t cell = (std::uint64_t{place} * limits_.size()) >> 32;
    return height < static_cast<std::uint32_t>(limits_[cell]) ? static_cast<std::int32_t>(cell) : others_[cell];
  }

  // By index, as random_ids takes them.
  const std::vector<std::int32_t>& limits() const { return limits_; }
  const std::vector<std::int32_t>& others() const { return others_; }

 private:
  std::vector<std::int32_t> limits_;  // 32 bits: heights below it are the cell's own index
  std::vector<std::int32_t> others_;
};

}  // namespace jari
