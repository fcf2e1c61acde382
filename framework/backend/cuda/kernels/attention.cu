// Attention: a block has a tile of queries of one (batch, head) pair, goes through the keys a tile at a time, and keeps
// each query's largest score, the sum of its exponentials and the weighted sum of values so far (Milakov and Gimelshein
// 2018, Dao et al. 2022). Scores never leave it, unless the probabilities are asked for. A short sequence is one tile.

#include <algorithm>

#include "framework/backend/cuda/attention_tiles.hpp"
#include "framework/backend/cuda/long_attention.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class T>
struct ForwardOperands {
  Operand<const T> query, key, value, bias;  // bias: null if there is none
  Operand<T> result, saved;
};

// Of a thread's four queries.
template <class T>
struct RunningSoftmax {
  T largest[kEach], sum[kEach];

  __device__ RunningSoftmax() {
    for (int i = 0; i < kEach; ++i) {
      largest[i] = static_cast<T>(kLowestMaximum);
      sum[i] = 0;
    }
  }

  // From the scores of the next keys to their weights, in place. factor(i): what weights of earlier keys are multiplied
  // with from now on.
  template <int kSide>
  __device__ void go_on(Held<T>& scores, T (&factor)[kEach]) {
    for (int i = 0; i < kEach; ++i) {
      T highest = largest[i];
      for (int j = 0; j < kEach; ++j) highest = larger(highest, scores.at[i][j]);
      highest = Tile<T, kSide>::over_row(highest, Largest());
      factor[i] = exponential(largest[i] - highest);
      T added = 0;
      for (int j = 0; j < kEach; ++j) added += scores.at[i][j] = exponential(scores.at[i][j] - highest);
      sum[i] = sum[i] * factor[i] + Tile<T, kSide>::over_row(added, Sum());
      largest[i] = highest;
    }
  }
};

// One pair's `saved` by a thread: the scores of a tile, for normalize_saved().
template <class T, int kSide>
__device__ void save_scores(const AttentionPlan& plan, const Held<T>& scores, std::int64_t row, std::int64_t column,
                            T* saved) {
  for (int i = 0; i < kEach; ++i) {
    const std::int64_t query = row + Tile<T, kSide>::row() + i;
    if (query >= plan.length) continue;
    for (int j = 0; j < kEach; ++j) {
      const std::int64_t key = column + Tile<T, kSide>::column() + j;
      if (key < plan.keys) saved[query * plan.keys + key] = scores.at[i][j];
    }
  }
}

// From the scores that this thread saved to the probabilities; 0 for keys that no query of the tile sees.
template <class T, int kSide>
__device__ void normalize_saved(const AttentionPlan& plan, const RunningSoftmax<T>& softmax, std::int64_t row,
                                std::int64_t end, T* saved) {
  for (int i = 0; i < kEach; ++i) {
    const std::int64_t query = row + Tile<T, kSide>::row() + i;
    if (query >= plan.length) continue;
    const T factor = T(1) / larger(softmax.sum[i], static_cast<T>(kLowestSum));
    for (std::int64_t column = Tile<T, kSide>::column(); column < plan.keys; column += Tile<T, kSide>::kSize) {
      for (std::int64_t key = column; key < column + kEach && key < plan.keys; ++key) {
        T& at = saved[query * plan.keys + key];
        at = key < end ? exponential(at - softmax.largest[i]) * factor : T(0);
      }
    }
  }
}

template <class T, int kSide>
__device__ void save_logarithms(const AttentionPlan& plan, const RunningSoftmax<T>& softmax, std::int64_t row,
                                T* saved) {
  if (Tile<T, kSide>::column() != 0) return;
  for (int i = 0; i < kEach; ++i) {
    const std::int64_t query = row + Tile<T, kSide>::row() + i;
    if (query < plan.length)
      saved[query] = softmax.largest[i] + logarithm(larger(softmax.sum[i], static_cast<T>(kLowestSum)));
  }
}

// A block: one pair, one tile of queries, and of the result kSlices tiles of columns; where values are wider, further
// blocks have the other columns, and the first of them saves what the gradient needs.
template <class T, int kSide, int kSlices>
__global__ void __launch_bounds__(kSide* kSide, Tile<T, kSide>::blocks(kSlices + 1))
    attend(AttentionPlan plan, ForwardOperands<T> of) {
  using Square = Tile<T, kSide>;
  JARI_DYNAMIC_SHARED(T, shared);
  const Square tile(shared);
  const std::int64_t tiles = (plan.length + Square::kSize - 1) / Square::kSize;
  constexpr int kColumns = kSlices * Square::kSize;
  const std::int64_t parts = plan.value_width > 0 ? (plan.value_width + kColumns - 1) / kColumns : 1;
  const std::int64_t part = blockIdx.x % parts, row = blockIdx.x / parts % tiles * Square::kSize;
  const std::int64_t pair = blockIdx.x / parts / tiles;
  const Tokens<const T> queries = tokens_of(of.query.of_trial(), plan, pair, plan.length, plan.width);
  const Tokens<const T> keys = tokens_of(of.key.of_trial(), plan, pair, plan.keys, plan.width);
  const Tokens<const T> values = tokens_of(of.value.of_trial(), plan, pair, plan.keys, plan.value_width);
  const T* const bias = of.bias.data ? of.bias.of_trial() + pair % plan.heads * plan.bias_head : nullptr;
  T* const saved = of.saved.of_trial() + pair * plan.length * (plan.saves_probabilities ? plan.keys : 1);
  const std::int64_t end = visible_end<T, kSide>(plan, row);
  RunningSoftmax<T> softmax;
  Held<T> result[kSlices], scores;
  for (int slice = 0; slice < kSlices; ++slice) result[slice].clear();
  for (std::int64_t column = 0; column < end; column += Square::kSize) {
    score_tile(tile, plan, queries, row, keys, column, bias, scores);
    if (plan.saves_probabilities && part == 0) save_scores<T, kSide>(plan, scores, row, column, saved);
    T factor[kEach];
    softmax.template go_on<kSide>(scores, factor);
    tile.put_turned_pairs(scores);
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice) {
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) result[slice].at[i][j] *= factor[i];
      tile.add_weighted_tokens(result[slice], values, column, part * kColumns + slice * Square::kSize);
    }
  }
  const Tokens<T> results = tokens_of(of.result.of_trial(), plan, pair, plan.length, plan.value_width);
  const auto inverse_sum = [&](int i) { return T(1) / larger(softmax.sum[i], static_cast<T>(kLowestSum)); };
  for (int slice = 0; slice < kSlices; ++slice)
    Square::store(result[slice], results, row, part * kColumns + slice * Square::kSize, inverse_sum);
  if (part != 0) return;
  if (plan.saves_probabilities) {
    normalize_saved<T, kSide>(plan, softmax, row, end, saved);
  } else {
    save_logarithms<T, kSide>(plan, softmax, row, saved);
  }
}

template <class T, int kSide, int kSlices>
std::unique_ptr<DeviceKernel> make_attend(const AttentionPlan& plan, bool biased) {
  using Square = Tile<T, kSide>;
  const std::int64_t parts = std::max<std::int64_t>(1, blocks_of(plan.value_width, kSlices * Square::kSize));
  const std::int64_t blocks = plan.batch * plan.heads * blocks_of(plan.length, Square::kSize) * parts;
  return make_kernel([=](const Call& call) {
    const ForwardOperands<T> of = {call.input<T>(0),  call.input<T>(1),
                                   call.input<T>(2),  biased ? call.input<T>(3) : Operand<const T>(),
                                   call.output<T>(0), call.output<T>(1)};
    call.launch(attend<T, kSide, kSlices>, blocks, Square::kThreads, Square::kBytes, plan, of);
  });
}

// As many columns of the result a block as values have, up to four tiles of them.
template <class T, int kSide>
std::unique_ptr<DeviceKernel> make_attend(const AttentionPlan& plan, bool biased) {
  constexpr int kSize = Tile<T, kSide>::kSize;
  if (plan.value_width <= kSize) return make_attend<T, kSide, 1>(plan, biased);
  if (plan.value_width <= 2 * kSize) return make_attend<T, kSide, 2>(plan, biased);
  return make_attend<T, kSide, 4>(plan, biased);
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_attention(const KernelRequest& request) {
  const bool biased = request.inputs.size() == 4;
  const AttentionPlan plan = attention_plan(request, biased ? &request.inputs[3] : nullptr);
  std::unique_ptr<DeviceKernel> own = for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return std::max(plan.length, plan.keys) <= Tile<T, 8>::kSize ? make_attend<T, 8>(plan, biased)
                                                                 : make_attend<T, 16>(plan, biased);
  });
  return faster_attention(request, std::move(own));
}

}  // namespace jari
