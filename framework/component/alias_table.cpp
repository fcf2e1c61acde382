#include "framework/component/alias_table.hpp"

#include <cmath>

#include "framework/base/error.hpp"

namespace jari {

AliasTable::AliasTable(std::span<const double> weights) : limits_(weights.size()), others_(weights.size()) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  JARI_ASSERT(sum > 0 && std::isfinite(sum), "weights that nothing can be drawn by");
  const double scale = static_cast<double>(weights.size()) / sum;
  std::vector<double> left;  // of each index, in cells
  std::vector<std::size_t> small, large;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left.push_back(weights[i] * scale);
    (left[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::size_t low = small.back(), high = large.back();
    small.pop_back();
    limits_[low] = static_cast<std::int32_t>(static_cast<std::uint32_t>(left[low] * 0x1p32));
    others_[low] = static_cast<std::int32_t>(high);
    left[high] -= 1 - left[low];
    if (left[high] >= 1) continue;
    large.pop_back();
    small.push_back(high);
  }
  for (const auto& rest : {small, large}) {  // full cells, but for rounding
    for (const std::size_t i : rest) {
      limits_[i] = -1;  // all bits
      others_[i] = static_cast<std::int32_t>(i);
    }
  }
}

}  // namespace jari
