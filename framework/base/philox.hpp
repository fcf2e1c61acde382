#pragma once
// Random numbers without state: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as
// 1, 2, 3"). A draw is a function of (seed, stream, step, element) alone, so neither the number of threads, nor the
// launch geometry, nor the trials that happen to be fused can change it, and resume needs only the step.
//
// Host and device compile this same header.

#include <cstdint>

#if defined(__CUDACC__)
#define JARI_HOST_DEVICE __host__ __device__
#else
#define JARI_HOST_DEVICE
#endif

namespace jari {

struct PhiloxBlock {
  std::uint32_t word[4];
};

// One block of 128 random bits for a 128-bit counter and a 64-bit key.
JARI_HOST_DEVICE inline PhiloxBlock philox(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {
        {static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// The stream of draws of one component at one step of one trial. `stream` is `random_stream("model/block0/dropout")`.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  std::uint32_t step = 0;

  // 2^32 blocks of four words a step.
  JARI_HOST_DEVICE PhiloxBlock block(std::uint32_t index) const {
    return philox({{index, step, static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}},
                  static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  }
  // Word `element % 4` of block `element / 4`.
  JARI_HOST_DEVICE std::uint32_t bits(std::uint64_t element) const {
    return block(static_cast<std::uint32_t>(element >> 2)).word[element & 3];
  }
};

// [0, 1), 24 bits: exact in float.
JARI_HOST_DEVICE inline float uniform_f32(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

// [0, 1) from 53 of 64 bits.
JARI_HOST_DEVICE inline double uniform_f64(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t word = (std::uint64_t{high} << 32) | low;
  return static_cast<double>(word >> 11) * 0x1p-53;
}

// [0, count) without modulo bias worth naming (Lemire 2019, without rejection: bias below count / 2^32).
JARI_HOST_DEVICE inline std::uint32_t uniform_below(std::uint32_t bits, std::uint32_t count) {
  return static_cast<std::uint32_t>((std::uint64_t{bits} * count) >> 32);
}

}  // namespace jari
