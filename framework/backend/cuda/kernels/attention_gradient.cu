// The gradient of attention. Where a pair's scores fit into one tile, a block has one head of one sequence or of
// several, reads all once, and writes the three gradients. Otherwise one kernel has tiles of queries (their gradient,
// and the mean of each row that the others need), one has tiles of keys, and one, if asked for, tiles of the bias; all
// compute the scores again. No sum is shared between blocks: those over the batch that the bias's gradient takes are
// kept in parts, which are added in order.

#include <algorithm>

#include "framework/backend/cuda/attention_tiles.hpp"
#include "framework/backend/cuda/column_sums.hpp"
#include "framework/backend/cuda/long_attention.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class T>
struct BackwardOperands {
  Operand<const T> query, key, value, saved, upstream, bias;  // bias: null if there is none
  Operand<T> query_gradient, key_gradient, value_gradient;
  Operand<T> means;       // [pair, length]; of tiled kernels
  Operand<T> bias_parts;  // [part, head, length, keys]; null: not asked for
};

// One (batch, head) pair of a block's trial.
template <class T>
struct Pair {
  Tokens<const T> query, key, value, upstream;
  const T *saved, *bias;
  T* means;
  std::int64_t index;

  __device__ Pair(const AttentionPlan& plan, const BackwardOperands<T>& of, std::int64_t pair)
      : query(tokens_of(of.query.of_trial(), plan, pair, plan.length, plan.width)),
        key(tokens_of(of.key.of_trial(), plan, pair, plan.keys, plan.width)),
        value(tokens_of(of.value.of_trial(), plan, pair, plan.keys, plan.value_width)),
        upstream(tokens_of(of.upstream.of_trial(), plan, pair, plan.length, plan.value_width)),
        saved(of.saved.of_trial() + pair * plan.length * (plan.saves_probabilities ? plan.keys : 1)),
        bias(of.bias.data ? of.bias.of_trial() + pair % plan.heads * plan.bias_head : nullptr),
        means(of.means.data ? of.means.of_trial() + pair * plan.length : nullptr),
        index(pair) {}
};

// A tile of the probabilities: the saved ones, or computed again. 0 where a query does not see the key.
template <class T, int kSide>
__device__ void probability_tile(const Tile<T, kSide>& tile, const AttentionPlan& plan, const Pair<T>& pair,
                                 std::int64_t row, std::int64_t column, Held<T>& probabilities) {
  if (!plan.saves_probabilities) score_tile(tile, plan, pair.query, row, pair.key, column, pair.bias, probabilities);
  for (int i = 0; i < kEach; ++i) {
    const std::int64_t query = row + tile.row() + i;
    const std::int64_t visible = query < plan.length ? plan.visible(query) : 0;
    const T logarithm = plan.saves_probabilities || visible == 0 ? T(0) : pair.saved[query];
    for (int j = 0; j < kEach; ++j) {
      const std::int64_t key = column + tile.column() + j;
      T& at = probabilities.at[i][j];
      if (key >= visible) {
        at = 0;
      } else {
        at = plan.saves_probabilities ? pair.saved[query * plan.keys + key] : exponential(at - logarithm);
      }
    }
  }
}

// Sums over a row of probability times its gradient, of the keys in this tile.
template <class T, int kSide>
__device__ void add_row_means(const Held<T>& probabilities, const Held<T>& gradients, T (&means)[kEach]) {
  for (int i = 0; i < kEach; ++i) {
    T sum = 0;
    for (int j = 0; j < kEach; ++j) sum += probabilities.at[i][j] * gradients.at[i][j];
    means[i] += Tile<T, kSide>::over_row(sum, Sum());
  }
}

// From the gradients of the probabilities to those of the scores, in place.
template <class T>
__device__ void to_score_gradients(const Held<T>& probabilities, const T (&means)[kEach], Held<T>& gradients) {
  for (int i = 0; i < kEach; ++i)
    for (int j = 0; j < kEach; ++j) gradients.at[i][j] = probabilities.at[i][j] * (gradients.at[i][j] - means[i]);
}

// Of the thread's rows, from the kernel of queries.
template <class T, int kSide>
__device__ void load_means(const AttentionPlan& plan, const Pair<T>& pair, std::int64_t row, T (&means)[kEach]) {
  for (int i = 0; i < kEach; ++i) {
    const std::int64_t query = row + Tile<T, kSide>::row() + i;
    means[i] = query < plan.length ? pair.means[query] : T(0);
  }
}

// A tile of the bias's gradient to its part.
template <class T, int kSide>
__device__ void store_bias(const AttentionPlan& plan, const Held<T>& sums, std::int64_t row, std::int64_t column,
                           T* part) {
  for (int i = 0; i < kEach; ++i) {
    const std::int64_t query = row + Tile<T, kSide>::row() + i;
    if (query >= plan.length) continue;
    for (int j = 0; j < kEach; ++j) {
      const std::int64_t key = column + Tile<T, kSide>::column() + j;
      if (key < plan.keys) part[query * plan.keys + key] = sums.at[i][j];
    }
  }
}

template <class T>
__device__ void add(Held<T>& sums, const Held<T>& more) {
  for (int i = 0; i < kEach; ++i)
    for (int j = 0; j < kEach; ++j) sums.at[i][j] += more.at[i][j];
}

// result = pairs, as they lie in the tile, times all tokens of one tile, some columns at a time.
template <class T, int kSide>
__device__ void store_weighted_tokens(const Tile<T, kSide>& tile, const Tokens<const T>& tokens,
                                      const Tokens<T>& result, T factor) {
  for (std::int64_t begin = 0; begin < result.width; begin += tile.kSize) {
    Held<T> sums;
    sums.clear();
    tile.add_weighted_tokens(sums, tokens, 0, begin);
    tile.store(sums, result, 0, begin, [=](int) { return factor; });
  }
}

// Where one tile has all of a pair. A block: one head of `sequences` sequences, one after another; of the bias's
// gradient it has the sum over them.
template <class T, int kSide>
__global__ void __launch_bounds__(kSide* kSide, Tile<T, kSide>::blocks(4))
    whole_gradients(AttentionPlan plan, BackwardOperands<T> of, std::int64_t sequences) {
  JARI_DYNAMIC_SHARED(T, shared);
  const Tile<T, kSide> tile(shared);
  const std::int64_t head = blockIdx.x % plan.heads, first = blockIdx.x / plan.heads * sequences;
  const T scale = static_cast<T>(plan.scale);
  Held<T> probabilities, gradients, bias_sums;
  bias_sums.clear();
  for (std::int64_t batch = first; batch < plan.batch && batch < first + sequences; ++batch) {
    const Pair<T> pair(plan, of, batch * plan.heads + head);
    probability_tile(tile, plan, pair, 0, 0, probabilities);
    tile.multiply_tokens(gradients, pair.upstream, 0, pair.value, 0);
    T means[kEach] = {};
    add_row_means<T, kSide>(probabilities, gradients, means);
    to_score_gradients(probabilities, means, gradients);
    if (of.bias_parts.data) add(bias_sums, gradients);
    const auto tokens = [&](Operand<T> operand, std::int64_t count, std::int64_t width) {
      return tokens_of(operand.of_trial(), plan, pair.index, count, width);
    };
    tile.put_pairs(probabilities);
    store_weighted_tokens(tile, pair.upstream, tokens(of.value_gradient, plan.keys, plan.value_width), T(1));
    tile.put_pairs(gradients);
    store_weighted_tokens(tile, pair.query, tokens(of.key_gradient, plan.keys, plan.width), scale);
    tile.put_turned_pairs(gradients);
    store_weighted_tokens(tile, pair.key, tokens(of.query_gradient, plan.length, plan.width), scale);
  }
  if (of.bias_parts.data)
    store_bias<T, kSide>(plan, bias_sums, 0, 0, of.bias_parts.of_trial() + blockIdx.x * plan.length * plan.keys);
}

// Which tile, and which columns of the result, a block has: `parts` blocks a tile, `kColumns` columns each.
struct Place {
  std::int64_t part, tile, pair;
  __device__ Place(std::int64_t tiles, std::int64_t parts)
      : part(blockIdx.x % parts), tile(blockIdx.x / parts % tiles), pair(blockIdx.x / parts / tiles) {}
};

inline constexpr int kTiledSide = 16;
template <class T>
using TiledSquare = Tile<T, kTiledSide>;

__device__ inline std::int64_t parts_of(std::int64_t width, std::int64_t columns) {
  return width > columns ? (width + columns - 1) / columns : 1;
}

// A tile of queries: once over the keys for the rows' means, once more for the gradient, of which a block has kSlices
// tiles of columns.
template <class T, int kSlices>
__global__ void __launch_bounds__(kTiledSide* kTiledSide, TiledSquare<T>::blocks(kSlices + 2))
    query_gradients(AttentionPlan plan, BackwardOperands<T> of) {
  using Square = TiledSquare<T>;
  constexpr int kColumns = kSlices * Square::kSize;
  JARI_DYNAMIC_SHARED(T, shared);
  const Square tile(shared);
  const Place place((plan.length + Square::kSize - 1) / Square::kSize, parts_of(plan.width, kColumns));
  const Pair<T> pair(plan, of, place.pair);
  const std::int64_t row = place.tile * Square::kSize, end = visible_end<T, kTiledSide>(plan, row);
  T means[kEach] = {};
  Held<T> probabilities, gradients, result[kSlices];
  for (std::int64_t column = 0; column < end; column += Square::kSize) {
    probability_tile(tile, plan, pair, row, column, probabilities);
    tile.multiply_tokens(gradients, pair.upstream, row, pair.value, column);
    add_row_means<T, kTiledSide>(probabilities, gradients, means);
  }
  for (int i = 0; place.part == 0 && tile.column() == 0 && i < kEach; ++i)
    if (row + tile.row() + i < plan.length) pair.means[row + tile.row() + i] = means[i];
  for (int slice = 0; slice < kSlices; ++slice) result[slice].clear();
  for (std::int64_t column = 0; column < end; column += Square::kSize) {
    probability_tile(tile, plan, pair, row, column, probabilities);
    tile.multiply_tokens(gradients, pair.upstream, row, pair.value, column);
    to_score_gradients(probabilities, means, gradients);
    tile.put_turned_pairs(gradients);
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
      tile.add_weighted_tokens(result[slice], pair.key, column, place.part * kColumns + slice * Square::kSize);
  }
  const Tokens<T> to = tokens_of(of.query_gradient.of_trial(), plan, place.pair, plan.length, plan.width);
  for (int slice = 0; slice < kSlices; ++slice)
    Square::store(result[slice], to, row, place.part * kColumns + slice * Square::kSize,
                  [&](int) { return static_cast<T>(plan.scale); });
}

// A tile of keys, over the queries: blocks of the first parts have columns of the values' gradient, the others' columns
// of the keys'.
template <class T, int kSlices>
__global__ void __launch_bounds__(kTiledSide* kTiledSide, TiledSquare<T>::blocks(kSlices + 2))
    key_gradients(AttentionPlan plan, BackwardOperands<T> of) {
  using Square = TiledSquare<T>;
  constexpr int kColumns = kSlices * Square::kSize;
  JARI_DYNAMIC_SHARED(T, shared);
  const Square tile(shared);
  const std::int64_t value_parts = parts_of(plan.value_width, kColumns);
  const Place place((plan.keys + Square::kSize - 1) / Square::kSize, value_parts + parts_of(plan.width, kColumns));
  const Pair<T> pair(plan, of, place.pair);
  const bool is_value = place.part < value_parts;
  const Tokens<const T> weighted = is_value ? Tokens<const T>(pair.upstream) : Tokens<const T>(pair.query);
  const std::int64_t column = place.tile * Square::kSize;
  const std::int64_t begin = (is_value ? place.part : place.part - value_parts) * kColumns;
  T means[kEach];
  Held<T> held, gradients, result[kSlices];
  for (int slice = 0; slice < kSlices; ++slice) result[slice].clear();
  for (std::int64_t row = plan.causal ? column : 0; row < plan.length; row += Square::kSize) {
    probability_tile(tile, plan, pair, row, column, held);
    if (!is_value) {
      load_means<T, kTiledSide>(plan, pair, row, means);
      tile.multiply_tokens(gradients, pair.upstream, row, pair.value, column);
      to_score_gradients(held, means, gradients);
      held = gradients;
    }
    tile.put_pairs(held);
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
      tile.add_weighted_tokens(result[slice], weighted, row, begin + slice * Square::kSize);
  }
  const Tokens<T> to = is_value ? tokens_of(of.value_gradient.of_trial(), plan, place.pair, plan.keys, plan.value_width)
                                : tokens_of(of.key_gradient.of_trial(), plan, place.pair, plan.keys, plan.width);
  const T factor = is_value ? T(1) : static_cast<T>(plan.scale);
  for (int slice = 0; slice < kSlices; ++slice)
    Square::store(result[slice], to, column, begin + slice * Square::kSize, [=](int) { return factor; });
}

// A tile of the bias of one head, summed over `sequences` sequences in order.
template <class T>
__global__ void __launch_bounds__(kTiledSide* kTiledSide, TiledSquare<T>::blocks(3))
    bias_gradients(AttentionPlan plan, BackwardOperands<T> of, std::int64_t sequences) {
  using Square = TiledSquare<T>;
  JARI_DYNAMIC_SHARED(T, shared);
  const Square tile(shared);
  const std::int64_t tiles_along = (plan.keys + Square::kSize - 1) / Square::kSize;
  const std::int64_t tiles = (plan.length + Square::kSize - 1) / Square::kSize * tiles_along;
  const std::int64_t at = blockIdx.x % tiles, part = blockIdx.x / tiles;  // part: of [part, head]
  const std::int64_t row = at / tiles_along * Square::kSize, column = at % tiles_along * Square::kSize;
  const std::int64_t head = part % plan.heads, first = part / plan.heads * sequences;
  T means[kEach];
  Held<T> probabilities, gradients, sums;
  sums.clear();
  const bool is_seen = column < visible_end<T, kTiledSide>(plan, row);
  for (std::int64_t batch = first; is_seen && batch < plan.batch && batch < first + sequences; ++batch) {
    const Pair<T> pair(plan, of, batch * plan.heads + head);
    load_means<T, kTiledSide>(plan, pair, row, means);
    probability_tile(tile, plan, pair, row, column, probabilities);
    tile.multiply_tokens(gradients, pair.upstream, row, pair.value, column);
    to_score_gradients(probabilities, means, gradients);
    add(sums, gradients);
  }
  store_bias<T, kTiledSide>(plan, sums, row, column, of.bias_parts.of_trial() + part * plan.length * plan.keys);
}

constexpr std::int64_t kMostPartElements = 4'000'000;  // of all parts of the bias's gradient, about

// How the sum of the bias's gradient is cut: parts of `sequences` sequences.
struct BiasCut {
  BiasCut(const AttentionPlan& plan, bool wanted) {
    const std::int64_t each = std::max<std::int64_t>(1, plan.heads * plan.length * plan.keys);
    const std::int64_t most = std::max<std::int64_t>(1, kMostPartElements / each);
    sequences = wanted ? std::max<std::int64_t>(1, blocks_of(plan.batch, most)) : 1;
    parts = blocks_of(plan.batch, sequences);
    elements = wanted ? parts * plan.heads * plan.length * plan.keys : 0;
  }
  std::int64_t sequences, parts, elements;
};

template <class T>
class AttentionGradientKernel final : public DeviceKernel {
 public:
  AttentionGradientKernel(const KernelRequest& request, const AttentionPlan& plan)
      : plan_(plan),
        biased_(request.inputs.size() == 6),
        wants_bias_(request.attributes.as<AttentionAttributes>().bias_gradient),
        cut_(plan, wants_bias_) {}

  std::size_t workspace_bytes(int trials) const override { return static_cast<std::size_t>(trials) * trial_bytes(); }

  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override {
    const Call call(arguments, queue);
    BackwardOperands<T> of = {call.input<T>(0),
                              call.input<T>(1),
                              call.input<T>(2),
                              call.input<T>(3),
                              call.input<T>(4),
                              biased_ ? call.input<T>(5) : Operand<const T>(),
                              call.output<T>(0),
                              call.output<T>(1),
                              call.output<T>(2),
                              {},
                              {}};
    if (!is_whole()) of.means = call.workspace<T>(0, trial_bytes());
    if (wants_bias_) of.bias_parts = call.workspace<T>(mean_bytes(), trial_bytes());
    const std::int64_t longest = std::max(plan_.length, plan_.keys);
    if (longest <= Tile<T, 8>::kSize) {
      launch_whole<8>(call, of);
    } else if (is_whole()) {
      launch_whole<kTiledSide>(call, of);
    } else {
      launch_tiled(call, of);
    }
    if (wants_bias_) launch_bias_sums(call, of.bias_parts);
  }

 private:
  bool is_whole() const { return std::max(plan_.length, plan_.keys) <= TiledSquare<T>::kSize; }
  std::size_t mean_bytes() const {
    return is_whole() ? 0 : aligned(static_cast<std::size_t>(plan_.batch * plan_.heads * plan_.length) * sizeof(T));
  }
  std::size_t trial_bytes() const {
    return mean_bytes() + aligned(static_cast<std::size_t>(cut_.elements) * sizeof(T));
  }

  template <int kSide>
  void launch_whole(const Call& call, const BackwardOperands<T>& of) const {
    using Square = Tile<T, kSide>;
    call.launch(whole_gradients<T, kSide>, cut_.parts * plan_.heads, Square::kThreads, Square::kBytes, plan_, of,
                cut_.sequences);
  }

  // Blocks have one tile of columns where heads are narrow, otherwise two.
  void launch_tiled(const Call& call, const BackwardOperands<T>& of) const {
    using Square = TiledSquare<T>;
    const bool is_narrow = std::max(plan_.width, plan_.value_width) <= Square::kSize;
    const std::int64_t columns = is_narrow ? Square::kSize : 2 * Square::kSize;
    const auto parts = [&](std::int64_t width) { return std::max<std::int64_t>(1, blocks_of(width, columns)); };
    const std::int64_t pairs = plan_.batch * plan_.heads;
    const std::int64_t query_tiles = blocks_of(plan_.length, Square::kSize);
    const std::int64_t key_tiles = blocks_of(plan_.keys, Square::kSize);
    call.launch(is_narrow ? query_gradients<T, 1> : query_gradients<T, 2>, pairs * query_tiles * parts(plan_.width),
                Square::kThreads, Square::kBytes, plan_, of);
    call.launch(is_narrow ? key_gradients<T, 1> : key_gradients<T, 2>,
                pairs * key_tiles * (parts(plan_.value_width) + parts(plan_.width)), Square::kThreads, Square::kBytes,
                plan_, of);
    if (!wants_bias_) return;
    call.launch(bias_gradients<T>, cut_.parts * plan_.heads * query_tiles * key_tiles, Square::kThreads, Square::kBytes,
                plan_, of, cut_.sequences);
  }

  // Over the parts, and over the heads of a bias that they share.
  void launch_bias_sums(const Call& call, Operand<T> bias_parts) const {
    const std::int64_t head = plan_.length * plan_.keys;
    const bool is_shared = plan_.bias_head == 0;
    launch_sum_columns(call, bias_parts, call.output<T>(3), is_shared ? cut_.parts * plan_.heads : cut_.parts,
                       is_shared ? head : plan_.heads * head);
  }

  AttentionPlan plan_;
  bool biased_, wants_bias_;
  BiasCut cut_;
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_attention_gradient(const KernelRequest& request) {
  const AttentionPlan plan = attention_plan(request, request.inputs.size() == 6 ? &request.inputs[5] : nullptr);
  std::unique_ptr<DeviceKernel> own =
      for_real(request, request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<DeviceKernel> {
        return std::make_unique<AttentionGradientKernel<T>>(request, plan);
      });
  return faster_attention(request, std::move(own));
}

}  // namespace jari
