#pragma once
// A discrete distribution from which a draw takes one look-up (Walker 1977, in Vose's form of 1991); random_ids draws.

#include <cstdint>
#include <span>
#include <vector>

namespace jari {

class AliasTable {
 public:
  // Weights >= 0, at least one > 0.
  explicit AliasTable(std::span<const double> weights);

  // By index, as IdDraws has them.
  const std::vector<std::int32_t>& limits() const { return limits_; }
  const std::vector<std::int32_t>& others() const { return others_; }

 private:
  std::vector<std::int32_t> limits_;  // 32 bits: heights below it are the cell's own index
  std::vector<std::int32_t> others_;
};

}  // namespace jari
