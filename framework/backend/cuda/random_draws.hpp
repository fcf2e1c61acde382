#pragma once
// The draws of one trial.

#include "framework/backend/cuda/cuda_kernel.hpp"
#include "framework/base/philox.hpp"

namespace jari::cuda {

struct Draws {
  Operand<const std::int32_t> seed, step;
  std::uint64_t stream;

  __device__ RandomStream of_trial() const {
    const std::int32_t* const words = seed.of_trial();
    const auto low = static_cast<std::uint32_t>(words[0]), high = static_cast<std::uint32_t>(words[1]);
    return {(std::uint64_t{high} << 32) | low, stream, static_cast<std::uint32_t>(*step.of_trial())};
  }
  __device__ PhiloxBlock block(std::int64_t i) const { return of_trial().block(static_cast<std::uint32_t>(i)); }
};

}  // namespace jari::cuda
