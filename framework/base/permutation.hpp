#pragma once
// A random order of [0, count) without a table: which element stands at a place.

#include <cstdint>

#include "framework/base/philox.hpp"

namespace jari {

// A Feistel network of four rounds on the next power of four, walked until it is below `count` (Black and Rogaway 2002,
// "Ciphers with arbitrary finite domains"). The same for the same (random, count).
inline std::uint64_t permuted(std::uint64_t place, std::uint64_t count, const RandomStream& random) {
  int half = 1;  // bits
  while (half < 32 && (std::uint64_t{1} << (2 * half)) < count) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = place >> half, right = place & mask;
    for (std::uint32_t round = 0; round < 4; ++round) {
      const PhiloxBlock bits =
          philox({{static_cast<std::uint32_t>(right), round, random.step, static_cast<std::uint32_t>(random.stream)}},
                 static_cast<std::uint32_t>(random.seed), static_cast<std::uint32_t>(random.seed >> 32));
      const std::uint64_t mixed = left ^ (bits.word[0] & mask);
      left = right;
      right = mixed;
    }
    place = left << half | right;
  } while (place >= count);
  return place;
}

}  // namespace jari
