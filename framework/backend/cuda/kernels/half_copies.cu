// Copies between f32 and bf16: a thread has eight numbers, which are one load of bf16 and two of f32. Several copies
// are one launch: blockIdx.y says which.

#include "framework/backend/cuda/half_copies.hpp"

#include <algorithm>

#include "framework/backend/cuda/pointwise.hpp"

namespace jari::cuda {

namespace {

constexpr std::int64_t kAtATime = 8;

struct alignas(16) EightHalves {
  std::uint16_t of[kAtATime];
};
struct alignas(16) EightWholes {
  float of[kAtATime];
};
union Bits {
  float number;
  std::uint32_t bits;
};

__device__ std::uint16_t rounded(float number) {
  Bits whole;
  whole.number = number;
  if (number != number) return static_cast<std::uint16_t>(whole.bits >> 16 | 0x40);  // stays one that is not a number
  return static_cast<std::uint16_t>((whole.bits + 0x7fff + (whole.bits >> 16 & 1)) >> 16);
}

__device__ float widened(std::uint16_t half) {
  Bits whole;
  whole.bits = static_cast<std::uint32_t>(half) << 16;
  return whole.number;
}

struct Round {
  using From = float;
  using To = std::uint16_t;
  using Eight = EightWholes;
  using EightResults = EightHalves;
  __device__ std::uint16_t operator()(float number) const { return rounded(number); }
};

struct Widen {
  using From = std::uint16_t;
  using To = float;
  using Eight = EightHalves;
  using EightResults = EightWholes;
  __device__ float operator()(std::uint16_t half) const { return widened(half); }
};

struct Copies {
  HalfCopy of[kMostHalfCopies];
};

template <class Change>
__global__ void copy_changed(Copies copies) {
  const Change change;
  const HalfCopy& copy = copies.of[blockIdx.y];
  const auto* const from = static_cast<const typename Change::From*>(copy.from);
  auto* const to = static_cast<typename Change::To*>(copy.to);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x * kAtATime;
  std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kAtATime;
  for (; i + kAtATime <= copy.count; i += step) {
    const auto eight = *reinterpret_cast<const typename Change::Eight*>(from + i);
    typename Change::EightResults results;
    for (int j = 0; j < kAtATime; ++j) results.of[j] = change(eight.of[j]);
    *reinterpret_cast<typename Change::EightResults*>(to + i) = results;
  }
  for (std::int64_t j = i; j < copy.count && j < i + kAtATime; ++j) to[j] = change(from[j]);
}

template <class Change>
void launch_copies(const std::vector<HalfCopy>& list, DeviceQueue& queue) {
  if (list.size() > kMostHalfCopies) throw DeviceError("too many copies to bf16 in one launch");
  Copies copies = {};
  std::int64_t most = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    copies.of[i] = list[i];
    most = std::max(most, list[i].count);
  }
  if (most == 0) return;
  const std::int64_t blocks = std::min(kMostBlocks, blocks_of(blocks_of(most, kAtATime), kThreads));
  simt::launch(copy_changed<Change>, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(list.size())),
               dim3(kThreads), 0, static_cast<StreamQueue&>(queue).stream(), copies);
}

}  // namespace

void round_to_bf16(const std::vector<HalfCopy>& copies, DeviceQueue& queue) { launch_copies<Round>(copies, queue); }

void widen_from_bf16(const std::vector<HalfCopy>& copies, DeviceQueue& queue) { launch_copies<Widen>(copies, queue); }

}  // namespace jari::cuda
