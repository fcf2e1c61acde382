#pragma once

#include "framework/base/philox.hpp"

namespace jari::cpu {

// From the inputs of RandomInputs: seed, low and high word, and step.
inline RandomStream random_stream(std::uint64_t stream, const std::int32_t* seed, const std::int32_t* step) {
  const auto low = static_cast<std::uint32_t>(seed[0]), high = static_cast<std::uint32_t>(seed[1]);
  return {(std::uint64_t{high} << 32) | low, stream, static_cast<std::uint32_t>(*step)};
}

}  // namespace jari::cpu
