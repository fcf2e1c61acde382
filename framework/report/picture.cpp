#include "framework/report/picture.hpp"

#include <algorithm>

namespace jari {

std::vector<std::size_t> thinned(const std::vector<double>& values, std::size_t limit) {
  std::vector<std::size_t> kept;
  const std::size_t count = values.size();
  if (count <= std::max<std::size_t>(limit, 4)) {
    for (std::size_t i = 0; i < count; ++i) kept.push_back(i);
    return kept;
  }
  const std::size_t stretches = std::max<std::size_t>(1, (limit - 2) / 2);
  kept.push_back(0);
  for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
    const std::size_t begin = 1 + stretch * (count - 2) / stretches;
    const std::size_t end = 1 + (stretch + 1) * (count - 2) / stretches;
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = values.begin() + static_cast<std::ptrdiff_t>(end);
    const auto [lowest, highest] = std::minmax_element(first, last);
    const auto low = static_cast<std::size_t>(lowest - values.begin());
    const auto high = static_cast<std::size_t>(highest - values.begin());
    kept.push_back(std::min(low, high));
    if (low != high) kept.push_back(std::max(low, high));
  }
  kept.push_back(count - 1);
  return kept;
}

}  // namespace jari
