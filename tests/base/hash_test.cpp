#include "framework/base/hash.hpp"

#include <gtest/gtest.h>

namespace jari {
namespace {

// XXH3 of xxHash 0.8, as its command line prints them (xxhsum -H2, -H3).
TEST(Hash, IsXxh3) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(hash64("a"), 0xe6c632b61e964e1fu);
  EXPECT_EQ(hash64("abc"), 0x78af5f94892f3950u);
  EXPECT_EQ(hash128_hex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash128_hex("a"), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(hash128_hex("abc"), "06b05ab6733a618578af5f94892f3950");
}

}  // namespace
}  // namespace jari
