#pragma once
// Copies between f32 and bf16, for libraries that want the latter.

#include <cstdint>
#include <vector>

#include "framework/backend/device.hpp"

namespace jari::cuda {

// Dense, 16-byte aligned. A number of bf16 is the upper half of a float.
struct HalfCopy {
  const void* from;
  void* to;
  std::int64_t count;
};

inline constexpr std::size_t kMostHalfCopies = 4;  // at a time

// From f32, rounded to the nearest, ties to even.
void round_to_bf16(const std::vector<HalfCopy>& copies, DeviceQueue& queue);
// To f32, exactly.
void widen_from_bf16(const std::vector<HalfCopy>& copies, DeviceQueue& queue);

}  // namespace jari::cuda
