#include "framework/program/arena.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

TEST(ArenaLayout, GivesDistinctAlignedStretches) {
  ArenaLayout arena;
  EXPECT_EQ(arena.take(1), 0u);
  EXPECT_EQ(arena.take(65), 64u);
  EXPECT_EQ(arena.take(64), 192u);
  EXPECT_EQ(arena.peak(), 256u);
}

TEST(ArenaLayout, UsesTheLowestGapThatFits) {
  ArenaLayout arena;
  const std::size_t first = arena.take(64), second = arena.take(128), third = arena.take(64);
  arena.release(first);
  arena.release(third);
  EXPECT_EQ(arena.take(128), second + 128) << "the gap at the start is too small";
  EXPECT_EQ(arena.take(64), first);
}

TEST(ArenaLayout, AnEmptyTensorStillHasAPlaceOfItsOwn) {
  ArenaLayout arena;
  EXPECT_NE(arena.take(0), arena.take(0));
}

}  // namespace
}  // namespace jari
