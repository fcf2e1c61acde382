#include "framework/component/alias_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "framework/ops/random.hpp"

namespace jari {
namespace {

std::int32_t drawn_from(const AliasTable& table, std::uint32_t place, std::uint32_t height) {
  return alias_id(place, height, table.limits().data(), table.others().data(),
                  static_cast<std::uint32_t>(table.limits().size()));
}

// Every index by how much of the square of all draws it takes: exact, but for the grid.
std::vector<double> shares_of(const AliasTable& table, std::size_t count) {
  constexpr std::uint32_t kSteps = 1 << 12;
  std::vector<double> shares(count);
  for (std::size_t cell = 0; cell < count; ++cell) {
    const auto place =
        static_cast<std::uint32_t>((static_cast<double>(cell) + 0.5) / static_cast<double>(count) * 0x1p32);
    for (std::uint32_t i = 0; i < kSteps; ++i)
      shares[static_cast<std::size_t>(drawn_from(table, place, i * (0xFFFFFFFFu / kSteps)))] += 1.0 / kSteps;
  }
  for (double& share : shares) share /= static_cast<double>(count);
  return shares;
}

TEST(AliasTable, DrawsInProportionToTheWeights) {
  for (const std::vector<double>& weights :
       std::vector<std::vector<double>>{{1}, {1, 1}, {0, 3, 1}, {5, 0.001, 2, 2, 9, 0, 1}, {1e9, 1, 1, 1}}) {
    const std::vector<double> shares = shares_of(AliasTable(weights), weights.size());
    double sum = 0;
    for (const double weight : weights) sum += weight;
    for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(shares[i], weights[i] / sum, 1e-3) << i;
  }
}

TEST(AliasTable, NeverDrawsWhatHasNoWeight) {
  const AliasTable table(std::vector<double>{0, 2, 0, 1, 0});
  for (std::uint64_t place = 0; place < (1ull << 32); place += 1u << 22) {
    for (const std::uint32_t height : {0u, 1u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
      const std::int32_t drawn = drawn_from(table, static_cast<std::uint32_t>(place), height);
      EXPECT_TRUE(drawn == 1 || drawn == 3) << drawn;
    }
  }
}

}  // namespace
}  // namespace jari
