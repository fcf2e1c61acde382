#include "framework/base/philox.hpp"

#include <gtest/gtest.h>

#include <array>

namespace jari {
namespace {

using Words = std::array<std::uint32_t, 4>;

Words words(const PhiloxBlock& block) { return {block.word[0], block.word[1], block.word[2], block.word[3]}; }

// Random123's kat_vectors, philox4x32 with 10 rounds.
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(words(philox({{0, 0, 0, 0}}, 0, 0)), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(words(philox({{ones, ones, ones, ones}}, ones, ones)),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0)),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, StreamCountsElementsStepsAndStreams) {
  const RandomStream stream{0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3};
  EXPECT_EQ(words(stream.block(0x243f6a88)), (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ(stream.bits(4ull * 0x243f6a88 + 2), 0x5001e420u);
}

TEST(Philox, UniformsStayBelowOne) {
  EXPECT_EQ(uniform_f32(0), 0.0f);
  EXPECT_EQ(uniform_f32(0xffffffff), 1.0f - 0x1p-24f);
  EXPECT_EQ(uniform_f64(0xffffffff, 0xffffffff), 1.0 - 0x1p-53);
  EXPECT_EQ(uniform_f64(0x80000000, 0), 0.5);
  EXPECT_EQ(uniform_below(0xffffffff, 10), 9u);
  EXPECT_EQ(uniform_below(0x80000000, 10), 5u);
}

}  // namespace
}  // namespace jari
