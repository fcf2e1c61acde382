#pragma once
// Cross-entropy of one row of logits, by the threads that work on it.

#include "framework/backend/cuda/real_math.hpp"
#include "framework/backend/cuda/row_threads.hpp"

namespace jari::cuda {

// The largest logit, and the sum of the exponentials of all logits less it.
template <class T>
struct LogSum {
  T largest = static_cast<T>(kLowestMaximum), sum = 0;
  __device__ T logarithm_of_sum() const { return largest + logarithm(larger(sum, static_cast<T>(kLowestSum))); }
};

// One pass: a thread takes every so many elements, in order, and goes on from a larger maximum where it meets one; then
// the threads' sums are brought to the row's maximum and added.
template <class Threads, class T>
__device__ LogSum<T> log_sum_of(const T* row, std::int64_t width, T* parts) {
  LogSum<T> own;
  for (std::int64_t j = Threads::thread(); j < width; j += Threads::kThreads) {
    const T logit = row[j];
    if (logit > own.largest) {
      own.sum *= exponential(own.largest - logit);
      own.largest = logit;
    }
    own.sum += exponential(logit - own.largest);
  }
  const T largest = Threads::reduce(own.largest, Largest(), parts);
  return {largest, Threads::reduce(own.sum * exponential(own.largest - largest), Sum(), parts)};
}

// What a row's loss is where the logits say nothing about it: 0 where the target is ignored, NaN where there is no such
// class, so that it shows.
template <class T>
__device__ T loss_without_logits(std::int32_t target) {
  return target < 0 ? T(0) : static_cast<T>(NAN);
}

// (softmax - 1 at the target) factor. `out` may be `row`.
template <class Threads, class T>
__device__ void row_loss_gradient(const T* row, std::int64_t width, std::int32_t target, const LogSum<T>& of, T factor,
                                  T* out) {
  const T scale = factor / larger(of.sum, static_cast<T>(kLowestSum));
  for (std::int64_t j = Threads::thread(); j < width; j += Threads::kThreads)
    out[j] = exponential(row[j] - of.largest) * scale - (j == target ? factor : T(0));
}

// Elements of a row that says nothing, for row_loss_gradient.
template <class Threads, class T>
__device__ void fill_row(T* row, std::int64_t width, T value) {
  for (std::int64_t j = Threads::thread(); j < width; j += Threads::kThreads) row[j] = value;
}

inline constexpr unsigned kTotalThreads = 1024;  // of the one block that takes what all rows share

// How many targets count, at least 1: by a whole block, which all get.
__device__ inline std::int64_t count_targets(const std::int32_t* targets, std::int64_t rows, std::int64_t* parts) {
  std::int64_t count = 0;
  for (std::int64_t i = threadIdx.x; i < rows; i += blockDim.x) count += targets[i] >= 0;
  count = reduce_block(count, Sum(), parts);
  return count < 1 ? 1 : count;
}

// The mean of the rows' losses over the rows that count: one block, which adds in f64, a thread every so many rows.
template <class T>
__global__ void mean_of_losses(Operand<const T> losses, Operand<const std::int32_t> targets, Operand<T> out,
                               std::int64_t rows) {
  JARI_SHARED(std::int64_t, counts, 32);
  JARI_SHARED(double, parts, 32);
  const std::int64_t count = count_targets(targets.of_trial(), rows, counts);
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < rows; i += blockDim.x) sum += static_cast<double>(losses.of_trial()[i]);
  sum = reduce_block(sum, Sum(), parts);
  if (threadIdx.x == 0) *out.of_trial() = static_cast<T>(sum / static_cast<double>(count));
}

}  // namespace jari::cuda
