// Negative sampling's loss and slopes: framework/ops/negative_sampling.hpp has the formula. Only rows of the table that
// the ids name are read.

#include "framework/backend/cuda/indexing.hpp"
#include "framework/backend/cuda/real_math.hpp"
#include "framework/backend/cuda/totals.hpp"
#include "framework/ops/negative_sampling.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class T>
struct Forward {
  NegativeSamplingSizes sizes;
  double weight;
  Operand<const T> hidden, table;
  Operand<const std::int32_t> targets, negatives;
  Operand<T> target_slopes, negative_slopes;
  Operand<double> losses;       // by row of `hidden`
  Operand<std::int32_t> pairs;  // one number

  __device__ const T* row_of(std::int64_t id) const {
    return table.of_trial() + (id < sizes.vocabulary ? id : sizes.vocabulary - 1) * sizes.width;
  }
};

// One block: thread t counts ids t, t + threads ..., all of which are whole numbers.
template <class T>
__global__ void count_pairs(Forward<T> forward, Operand<T> out) {
  JARI_SHARED(std::int32_t, parts, 32);
  const std::int64_t ids = forward.sizes.batch * forward.sizes.count;
  std::int32_t count = 0;
  for (std::int64_t i = threadIdx.x; i < ids; i += blockDim.x) count += forward.targets.of_trial()[i] >= 0;
  count = reduce_block(count, Sum(), parts);
  if (threadIdx.x != 0) return;
  *forward.pairs.of_trial() = count;
  *out.of_trial() = static_cast<T>(count);
}

// -- scores with negatives that all rows share: a product of matrices

constexpr int kTile = 32, kDeep = 32, kTileThreads = 256;

// A tile of rows, zeros beyond the last row or column.
template <class Row, class T>
__device__ void load_tile(const Row& row, std::int64_t rows, std::int64_t begin, std::int64_t width, T* tile) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kDeep; i += kTileThreads) {
    const int own = i / kDeep, column = i % kDeep;
    const T* const from = own < rows && begin + column < width ? row(own) : nullptr;
    tile[own * (kDeep + 1) + column] = from != nullptr ? from[begin + column] : T(0);
  }
}

// A block takes 32 rows of `hidden` and 32 negatives, a thread four of the scores: each is added up column after
// column.
template <class T>
__global__ void score_shared(Forward<T> forward) {
  JARI_SHARED(T, rows, kTile * (kDeep + 1));
  JARI_SHARED(T, others, kTile * (kDeep + 1));
  const NegativeSamplingSizes& sizes = forward.sizes;
  const Split tile = split(blockIdx.x, (sizes.sampled + kTile - 1) / kTile);
  const std::int64_t top = tile.quotient * kTile, left = tile.remainder * kTile;
  const T* const hidden = forward.hidden.of_trial() + top * sizes.width;
  const std::int32_t* const ids = forward.negatives.of_trial() + left;
  const int row = static_cast<int>(threadIdx.x) / 16, column = static_cast<int>(threadIdx.x) % 16;
  T sums[2][2] = {};
  for (std::int64_t begin = 0; begin < sizes.width; begin += kDeep) {
    load_tile([&](int i) { return hidden + i * sizes.width; }, sizes.batch - top, begin, sizes.width, rows);
    load_tile([&](int i) { return ids[i] < 0 ? nullptr : forward.row_of(ids[i]); }, sizes.sampled - left, begin,
              sizes.width, others);
    __syncthreads();
    for (int j = 0; j < kDeep; ++j) {
      const T a[2] = {rows[row * (kDeep + 1) + j], rows[(row + 16) * (kDeep + 1) + j]};
      const T b[2] = {others[column * (kDeep + 1) + j], others[(column + 16) * (kDeep + 1) + j]};
      for (int r = 0; r < 2; ++r) {
        for (int c = 0; c < 2; ++c) sums[r][c] += a[r] * b[c];
      }
    }
    __syncthreads();
  }
  T* const scores = forward.negative_slopes.of_trial();
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 2; ++c) {
      const std::int64_t to = top + row + 16 * r, of = left + column + 16 * c;
      if (to < sizes.batch && of < sizes.sampled) scores[to * sizes.sampled + of] = sums[r][c];
    }
  }
}

// -- all other scores, losses and slopes

// Loss and slope of a score: softplus(score) and its derivative, the logistic function.
template <class T>
struct Softplus {
  __device__ explicit Softplus(T score) {
    const T e = exponential(score < 0 ? score : -score);
    const T large = 1 / (1 + e);
    slope = score < 0 ? e * large : large;
    loss = (score < 0 ? 0 : score) + logarithm_of_one_and(e);
  }
  T slope, loss;
};

// A block takes a row of `hidden`, a warp a score: lane l adds up columns l, l + 32 ...
template <class T>
__device__ void score_row(const Forward<T>& forward, std::int64_t row) {
  const NegativeSamplingSizes& sizes = forward.sizes;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t negatives = sizes.shared ? 0 : sizes.negatives_a_row;
  const T* const own = forward.hidden.of_trial() + row * sizes.width;
  for (std::int64_t i = threadIdx.x / kWarp; i < sizes.count + negatives; i += blockDim.x / kWarp) {
    const bool is_target = i < sizes.count;
    const std::int64_t at = is_target ? row * sizes.count + i : row * negatives + i - sizes.count;
    const std::int32_t id = is_target ? forward.targets.of_trial()[at] : forward.negatives.of_trial()[at];
    T score = 0;
    if (id >= 0) {
      const T* const other = forward.row_of(id);
#pragma unroll 4
      for (std::int64_t j = lane; j < sizes.width; j += kWarp) score += own[j] * other[j];
    }
    score = reduce_warp(score, Sum());
    if (lane == 0) (is_target ? forward.target_slopes : forward.negative_slopes).of_trial()[at] = score;
  }
}

// Scores to slopes, in the order of the threads; the row's loss by thread.
template <class T>
__device__ double finish_row(const Forward<T>& forward, std::int64_t row) {
  const NegativeSamplingSizes& sizes = forward.sizes;
  const std::int32_t all = *forward.pairs.of_trial();
  const T share = static_cast<T>(1.0 / (all > 1 ? all : 1));
  const T negative_share = static_cast<T>(forward.weight / static_cast<double>(sizes.sampled)) * share;
  const std::int32_t* const targets = forward.targets.of_trial() + row * sizes.count;
  T* const target_slopes = forward.target_slopes.of_trial() + row * sizes.count;
  std::int32_t pairs = 0;
  for (std::int64_t i = 0; i < sizes.count; ++i) pairs += targets[i] >= 0;
  double loss = 0;
  for (std::int64_t i = threadIdx.x; i < sizes.count; i += blockDim.x) {
    const Softplus<T> of(-target_slopes[i]);
    const bool valid = targets[i] >= 0;
    target_slopes[i] = valid ? -of.slope * share : T(0);
    if (valid) loss += static_cast<double>(of.loss * share);
  }
  const std::int64_t count = sizes.negatives_a_row;
  const std::int32_t* const ids = forward.negatives.of_trial() + (sizes.shared ? 0 : row * count);
  T* const slopes = forward.negative_slopes.of_trial() + row * count;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    const bool counts = ids[i] >= 0 && pairs > 0 && (!sizes.by_pair || targets[i / sizes.sampled] >= 0);
    const T weight = counts ? (sizes.by_pair ? T(1) : static_cast<T>(pairs)) * negative_share : T(0);
    const Softplus<T> of(slopes[i]);
    slopes[i] = pairs > 0 ? of.slope * weight : T(0);
    if (pairs > 0) loss += static_cast<double>(of.loss * weight);
  }
  return loss;
}

template <class T>
__global__ void run_rows(Forward<T> forward) {
  JARI_SHARED(double, parts, 32);
  score_row(forward, blockIdx.x);
  __syncthreads();
  const double loss = reduce_block(finish_row(forward, blockIdx.x), Sum(), parts);
  if (threadIdx.x == 0) forward.losses.of_trial()[blockIdx.x] = loss;
}

// A warp for each score of a row, up to eight.
unsigned threads_of_row(const NegativeSamplingSizes& sizes) {
  const std::int64_t scores = sizes.count + sizes.negatives_a_row;
  unsigned warps = 1;
  while (warps < 8 && warps < scores) warps *= 2;
  return warps * kWarp;
}

template <class T>
void run(const Call& call, const NegativeSamplingSizes& sizes, double weight, std::size_t losses_bytes) {
  const std::size_t bytes = losses_bytes + aligned(sizeof(std::int32_t));
  const Forward<T> forward{sizes,
                           weight,
                           call.input<T>(0),
                           call.input<T>(1),
                           call.input<std::int32_t>(2),
                           call.input<std::int32_t>(3),
                           call.output<T>(2),
                           call.output<T>(3),
                           call.workspace<double>(0, bytes),
                           call.workspace<std::int32_t>(losses_bytes, bytes)};
  call.launch(count_pairs<T>, 1, 1024, 0, forward, call.output<T>(1));
  if (sizes.shared) {
    const std::int64_t tiles = blocks_of(sizes.batch, kTile) * blocks_of(sizes.sampled, kTile);
    call.launch(score_shared<T>, tiles, kTileThreads, 0, forward);
  }
  call.launch(run_rows<T>, sizes.batch, threads_of_row(sizes), 0, forward);
  launch_total(call, forward.losses, sizes.batch, call.output<T>(0));
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_negative_sampling(const KernelRequest& request) {
  const auto& options = request.attributes.as<NegativeSamplingAttributes>();
  const NegativeSamplingSizes sizes(request.inputs[0].shape, request.inputs[1].shape, request.inputs[2].shape,
                                    request.inputs[3].shape, options);
  const double weight = options.weight;
  const std::size_t losses_bytes = aligned(static_cast<std::size_t>(sizes.batch) * sizeof(double));
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) { run<T>(call, sizes, weight, losses_bytes); },
                       losses_bytes + aligned(sizeof(std::int32_t)));
  });
}

}  // namespace jari
