#include "framework/base/permutation.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace jari {
namespace {

std::vector<std::uint64_t> order(std::uint64_t count, const RandomStream& random) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < count; ++i) places.push_back(permuted(i, count, random));
  return places;
}

TEST(Permutation, HasEachElementOnce) {
  for (const std::uint64_t count : {1, 2, 3, 4, 5, 16, 17, 1000, 4096}) {
    std::vector<bool> seen(count);
    for (const std::uint64_t place : order(count, {7, 8, 9})) {
      ASSERT_LT(place, count);
      EXPECT_FALSE(seen[place]);
      seen[place] = true;
    }
  }
}

TEST(Permutation, FollowsFromTheStreamAlone) {
  EXPECT_EQ(order(100, {1, 2, 3}), order(100, {1, 2, 3}));
  EXPECT_NE(order(100, {1, 2, 3}), order(100, {2, 2, 3}));
  EXPECT_NE(order(100, {1, 2, 3}), order(100, {1, 3, 3}));
  EXPECT_NE(order(100, {1, 2, 3}), order(100, {1, 2, 4}));
}

// The mean distance that an element is moved is a third of the length; a shift or a reversal would be far from it.
TEST(Permutation, MixesTheOrder) {
  constexpr std::uint64_t kCount = 3000;
  double moved = 0;
  std::uint64_t rising = 0, last = 0;
  std::uint64_t i = 0;
  for (const std::uint64_t place : order(kCount, {1, 2, 3})) {
    moved += place > i ? static_cast<double>(place - i) : static_cast<double>(i - place);
    rising += place > last ? 1 : 0;
    last = place;
    ++i;
  }
  EXPECT_NEAR(moved / kCount / kCount, 1.0 / 3, 0.02);
  EXPECT_NEAR(static_cast<double>(rising) / kCount, 0.5, 0.03);
}

}  // namespace
}  // namespace jari
