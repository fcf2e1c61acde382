#pragma once
// What optimizer steps share. Scalars such as the learning rate are read where they lie, by the kernels: a recorded
// launch is replayed with others. A trial that is not active stays as it is.

#include <cmath>

#include "framework/backend/cuda/indexing.hpp"
#include "framework/backend/cuda/real_math.hpp"
#include "framework/ops/optimizer_step.hpp"

namespace jari::cuda {

// Whether this block's trial takes the step.
__device__ inline bool is_active(const std::int32_t* active) { return active == nullptr || active[blockIdx.y] != 0; }

// Of a step over whole tables, which may have little or nothing to do: a grid of few blocks, whose threads go on.
inline constexpr std::int64_t kTableBlocks = 256;
inline std::int64_t table_blocks(std::int64_t count, std::int64_t of_block) {
  const std::int64_t blocks = blocks_of(count, of_block);
  return blocks < kTableBlocks ? blocks : kTableBlocks;
}

// The kept operand that an output replaces.
template <class T>
struct Kept {
  Operand<const T> before;
  Operand<T> after;
  __device__ void leave(std::int64_t i) const {
    if (after.of_trial() != before.of_trial()) after.of_trial()[i] = before.of_trial()[i];
  }
};

template <class T>
Kept<T> kept(const Call& call, int input, int output) {
  return {call.input<T>(input), call.output<T>(output)};
}

template <class T>
struct CopyKept {
  Kept<T> kept;
  __device__ void operator()(std::int64_t i) const { kept.leave(i); }
};

// The output, which is the input's memory or a copy of it.
template <class T>
Operand<T> copied(const Call& call, int i, std::int64_t count) {
  const Kept<T> both = kept<T>(call, i, i);
  if (both.before.data != both.after.data) launch_elements(call, count, CopyKept<T>{both});
  return both.after;
}

// Adam's step of one element, in the element type.
template <class T>
struct AdamStep {
  T beta1, beta2, rest1, rest2, epsilon, keep, slope_decay, step_size, correction;

  __device__ void run(T& parameter, T& first, T& second, T gradient) const {
    const T slope = gradient + slope_decay * parameter;
    first = beta1 * first + rest1 * slope;
    second = beta2 * second + rest2 * slope * slope;
    parameter = keep * parameter - step_size * first / (square_root(second) / correction + epsilon);
  }
};

template <class T>
struct AdamScalars {
  Operand<const T> rate, decay;
  Operand<const std::int32_t> step;  // counted from 0
};

// A block's step; all its threads must call this, of which there are two warps or more. `parts` is shared memory for
// two values.
template <class T>
__device__ AdamStep<T> adam_step(const AdamAttributes& options, const AdamScalars<T>& scalars, T* parts) {
  const double rate = *scalars.rate.of_trial(), decay = *scalars.decay.of_trial();
  const double steps = *scalars.step.of_trial() + 1.0;
  if (threadIdx.x == 0) parts[0] = static_cast<T>(rate / (1 - power(options.beta1, steps)));
  if (threadIdx.x == 32) parts[1] = static_cast<T>(square_root(1 - power(options.beta2, steps)));
  __syncthreads();
  return {static_cast<T>(options.beta1),
          static_cast<T>(options.beta2),
          static_cast<T>(1 - options.beta1),
          static_cast<T>(1 - options.beta2),
          static_cast<T>(options.epsilon),
          static_cast<T>(options.decoupled_decay ? 1 - rate * decay : 1),
          static_cast<T>(options.decoupled_decay ? 0 : decay),
          parts[0],
          parts[1]};
}

}  // namespace jari::cuda
