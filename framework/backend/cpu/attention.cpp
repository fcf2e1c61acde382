// Attention, one (batch, head) pair at a time: a pair's operands and scores stay in one core's cache. Long sequences go
// through tiles of rows of the scores, which are never stored whole.

#include "framework/ops/attention.hpp"

#include <cmath>
#include <limits>
#include <tuple>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/rows.hpp"
#include "framework/backend/cpu/scratch.hpp"
#include "framework/backend/cpu/small_product.hpp"

namespace jari {

namespace {

using namespace cpu;

// How the work is cut: by the problem alone.
struct Plan {
  static constexpr std::int64_t kTurnFrom = 48;  // rows that share the turned keys

  AttentionSizes sizes;
  AttentionAttributes options;
  std::int64_t bias_head = 0;   // elements from one head's bias to the next (0: shared)
  std::int64_t bias_size = 0;   // of the whole bias; 0: none
  std::int64_t score_row = 0;   // elements from one row of a tile to the next: whole vectors
  std::int64_t tile_rows = 0;   // rows of scores at a time
  std::int64_t query_row = 0;   // elements from a token's query or key to the next one's
  std::int64_t value_row = 0;   // of values and results
  std::int64_t pairs = 0;       // batch x heads
  std::int64_t pairs_each = 0;  // pairs a block
  std::int64_t blocks = 0;

  std::int64_t tile_size() const { return tile_rows * score_row; }
  // Keys that some row below `end` sees; and that up to whole vectors.
  std::int64_t visible(std::int64_t end) const { return options.causal ? std::min(end, sizes.keys) : sizes.keys; }
  std::int64_t padded(std::int64_t end) const { return blocks_of(visible(end), kLanes<float>) * kLanes<float>; }
  // Whether keys and values are worth turning, so that scores are sums of rows and not of products within rows.
  bool turns() const { return sizes.length >= kTurnFrom; }
};

constexpr std::int64_t kTileElements = 32768;          // of scores: they stay in the second-level cache
constexpr std::int64_t kCausalRows = 32;               // at most: what lies right of a tile's last row is not computed
constexpr std::int64_t kBlockOperations = 2'000'000;   // multiply-adds that are worth handing to another core
constexpr std::int64_t kMostBiasElements = 4'000'000;  // of all blocks' sums of the bias's gradient

Plan make_plan(const KernelRequest& request, const TensorType* bias) {
  Plan plan;
  plan.options = request.attributes.as<AttentionAttributes>();
  const AttentionSizes& sizes = plan.sizes =
      attention_sizes(request.op->name, plan.options, request.inputs[0], request.inputs[1], request.inputs[2]);
  if (bias) {
    plan.bias_size = bias->shape.size();
    plan.bias_head = bias->shape.rank() == 3 ? sizes.length * sizes.keys : 0;
  }
  plan.score_row = blocks_of(sizes.keys, kLanes<float>) * kLanes<float>;
  const std::int64_t most_rows = plan.options.causal ? kCausalRows : std::max<std::int64_t>(8, sizes.length);
  plan.tile_rows = std::clamp<std::int64_t>(kTileElements / std::max<std::int64_t>(1, plan.score_row), 8, most_rows);
  plan.query_row = plan.options.tokens_first ? sizes.heads * sizes.width : sizes.width;
  plan.value_row = plan.options.tokens_first ? sizes.heads * sizes.value_width : sizes.value_width;
  plan.pairs = sizes.batch * sizes.heads;
  const std::int64_t operations = sizes.length * sizes.keys * (sizes.width + sizes.value_width) + 1;
  plan.pairs_each = std::max<std::int64_t>(1, kBlockOperations / operations);
  if (plan.options.bias_gradient) {
    const std::int64_t most = std::max<std::int64_t>(1, kMostBiasElements / std::max<std::int64_t>(1, plan.bias_size));
    plan.pairs_each = std::max(plan.pairs_each, blocks_of(plan.pairs, most));
  }
  plan.blocks = blocks_of(plan.pairs, plan.pairs_each);
  return plan;
}

// A pair's keys or values: a token each `row` elements, and, where the plan turns them, a column each, [width, score_row]
// with zeros behind the last.
template <class T>
struct Turnable {
  const T* rows;
  std::int64_t row;
  const T* columns;
};

// products[i, j] = left row i of `width` numbers times key j, for the keys that the rows below `end` see.
template <class T>
void multiply_by_keys(const Plan& plan, const T* left, std::int64_t left_row, std::int64_t width, Turnable<T> keys,
                      std::int64_t rows, std::int64_t end, T* products) {
  if (plan.turns()) {
    multiply<T>({left, left_row, 1}, keys.columns, plan.score_row, products, plan.score_row, rows, plan.padded(end),
                width);
  } else {
    multiply_transposed(left, left_row, keys.rows, keys.row, products, plan.score_row, rows, plan.visible(end), width);
  }
}

// Rows [begin, end) of one pair's scores: scaled, biased, masked; -infinity up to whole vectors.
template <class T>
void score_tile(const Plan& plan, const T* query, Turnable<T> key, const T* bias, std::int64_t begin, std::int64_t end,
                T* scores) {
  const auto& [sizes, options] = std::tie(plan.sizes, plan.options);
  multiply_by_keys(plan, query + begin * plan.query_row, plan.query_row, sizes.width, key, end - begin, end, scores);
  const T scale = static_cast<T>(options.scale);
  for (std::int64_t i = begin; i < end; ++i, scores += plan.score_row) {
    const std::int64_t visible = plan.visible(i + 1);
    if (bias) {
      const T* added = bias + i * sizes.keys;
      for (std::int64_t j = 0; j < visible; ++j) scores[j] = scores[j] * scale + added[j];
    } else {
      scale_row(scores, visible, scale);
    }
    std::fill(scores + visible, scores + plan.padded(end), -std::numeric_limits<T>::infinity());
  }
}

template <class T>
struct Forward {
  const T* query;
  Turnable<T> key;
  const T *value, *bias;  // bias: null if there is none
  T *result, *saved;
};

// Softmax of a tile's rows, in place; keeps what the gradient needs.
template <class T>
void softmax_tile(const Plan& plan, std::int64_t begin, std::int64_t end, T* scores, T* saved) {
  const std::int64_t keys = plan.sizes.keys, visible = plan.visible(end), columns = plan.padded(end);
  for (std::int64_t i = begin; i < end; ++i, scores += plan.score_row) {
    const T largest = largest_of(scores, columns);
    const T sum = exponentials(scores, columns, largest, scores);
    scale_row(scores, columns, 1 / sum);
    if (plan.sizes.saves_probabilities()) {
      std::copy_n(scores, visible, saved + i * keys);
      std::fill(saved + i * keys + visible, saved + (i + 1) * keys, T{0});
    } else {
      saved[i] = largest + std::log(sum);
    }
  }
}

template <class T>
void attend(const Plan& plan, const Forward<T>& pair, T* scores) {
  const AttentionSizes& sizes = plan.sizes;
  for (std::int64_t begin = 0; begin < sizes.length; begin += plan.tile_rows) {
    const std::int64_t end = std::min(sizes.length, begin + plan.tile_rows);
    score_tile(plan, pair.query, pair.key, pair.bias, begin, end, scores);
    softmax_tile(plan, begin, end, scores, pair.saved);
    multiply<T>({scores, plan.score_row, 1}, pair.value, plan.value_row, pair.result + begin * plan.value_row,
                plan.value_row, end - begin, sizes.value_width, plan.visible(end));
  }
}

template <class T>
struct Backward {
  const T* query;
  Turnable<T> key, value;
  const T *saved, *upstream, *bias;
  T *query_gradient, *key_gradient, *value_gradient;
  T* bias_gradient;  // added to; null if not asked for
};

// Rows of the probabilities: the saved ones, or computed again into `scores`.
template <class T>
Strided<T> probability_tile(const Plan& plan, const Backward<T>& pair, std::int64_t begin, std::int64_t end,
                            T* scores) {
  if (plan.sizes.saves_probabilities()) return {pair.saved + begin * plan.sizes.keys, plan.sizes.keys, 1};
  score_tile(plan, pair.query, pair.key, pair.bias, begin, end, scores);
  for (std::int64_t i = begin; i < end; ++i) {
    T* row = scores + (i - begin) * plan.score_row;
    const T logarithm = pair.saved[i];
    for (std::int64_t j = 0; j < plan.padded(end); ++j) row[j] = exponential(row[j] - logarithm);
  }
  return {scores, plan.score_row, 1};
}

// From the gradients of a tile's probabilities to those of its scaled products, in place.
template <class T>
void score_gradients(const Plan& plan, const Backward<T>& pair, Strided<T> probabilities, std::int64_t begin,
                     std::int64_t end, T* gradients) {
  const std::int64_t columns = plan.visible(end);
  for (std::int64_t i = begin; i < end; ++i, gradients += plan.score_row) {
    const T* probability = probabilities.data + (i - begin) * probabilities.row;
    const T mean = sum_of<T>(columns, [&](std::int64_t j) { return probability[j] * gradients[j]; });
    for (std::int64_t j = 0; j < columns; ++j) gradients[j] = probability[j] * (gradients[j] - mean);
    if (pair.bias_gradient == nullptr) continue;
    T* sums = pair.bias_gradient + i * plan.sizes.keys;
    for (std::int64_t j = 0; j < columns; ++j) sums[j] += gradients[j];
  }
}

template <class T>
Strided<T> transposed(Strided<T> matrix) {
  return {matrix.data, matrix.column, matrix.row};
}

template <class T>
void fill_with_zeros(T* first, std::int64_t row, std::int64_t rows, std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) std::fill_n(first + i * row, width, T{0});
}

template <class T>
void backpropagate(const Plan& plan, const Backward<T>& pair, T* workspace) {
  const auto [batch, heads, length, keys, width, value_width] = plan.sizes;
  const std::int64_t query_row = plan.query_row, value_row = plan.value_row;
  T *scores = workspace, *gradients = workspace + plan.tile_size();
  const T scale = static_cast<T>(plan.options.scale);
  const bool at_once = plan.tile_rows >= length && plan.visible(length) == keys;  // nothing to add to
  if (!at_once) {
    fill_with_zeros(pair.key_gradient, query_row, keys, width);
    fill_with_zeros(pair.value_gradient, value_row, keys, value_width);
  }
  for (std::int64_t begin = 0; begin < length; begin += plan.tile_rows) {
    const std::int64_t end = std::min(length, begin + plan.tile_rows), rows = end - begin;
    const std::int64_t columns = plan.visible(end);
    const T *query = pair.query + begin * query_row, *upstream = pair.upstream + begin * value_row;
    const Strided<T> probabilities = probability_tile(plan, pair, begin, end, scores);
    multiply(transposed(probabilities), upstream, value_row, pair.value_gradient, value_row, columns, value_width, rows,
             T{1}, !at_once);
    multiply_by_keys(plan, upstream, value_row, value_width, pair.value, rows, end, gradients);
    score_gradients(plan, pair, probabilities, begin, end, gradients);
    const Strided<T> by_score = {gradients, plan.score_row, 1};
    multiply(by_score, pair.key.rows, query_row, pair.query_gradient + begin * query_row, query_row, rows, width,
             columns, scale);
    multiply(transposed(by_score), query, query_row, pair.key_gradient, query_row, columns, width, rows, scale,
             !at_once);
  }
}

// Elements of `saved` a pair.
std::int64_t saved_size(const AttentionSizes& sizes) {
  return sizes.saves_probabilities() ? sizes.length * sizes.keys : sizes.length;
}

// Where a pair begins in an operand of `length` tokens of `width` numbers a head.
std::int64_t begin_of(const Plan& plan, std::int64_t pair, std::int64_t length, std::int64_t width) {
  const std::int64_t heads = plan.sizes.heads;
  if (!plan.options.tokens_first) return pair * length * width;
  return (pair / heads * length * heads + pair % heads) * width;
}

template <class T>
T* at(T* data, std::int64_t offset) {
  return data ? data + offset : nullptr;
}

// Keys or values, turned in `scratch` where the plan says so; it then moves on.
template <class T>
Turnable<T> turnable(const Plan& plan, const T* rows, std::int64_t row, std::int64_t width, T*& scratch) {
  if (!plan.turns()) return {rows, row, nullptr};
  T* const columns = scratch;
  const std::int64_t keys = plan.sizes.keys, score_row = plan.score_row;
  for (std::int64_t p = 0; p < width; ++p) std::fill_n(columns + p * score_row + keys, score_row - keys, T{0});
  for (std::int64_t j = 0; j < keys; ++j) {
    const T* const from = rows + j * row;
    for (std::int64_t p = 0; p < width; ++p) columns[p * score_row + j] = from[p];
  }
  scratch += width * score_row;
  return {rows, row, columns};
}

std::int64_t turned_size(const Plan& plan) {
  return plan.turns() ? plan.score_row * (plan.sizes.width + plan.sizes.value_width) : 0;
}

template <class T>
void run_forward(const KernelArguments& arguments, const Plan& plan) {
  const AttentionSizes& sizes = plan.sizes;
  const T* bias = plan.bias_size > 0 ? arguments.input<T>(3) : nullptr;
  arguments.workers->for_each(plan.blocks, [&](std::int64_t block, int) {
    T* const scores = thread_scratch<T>(plan.tile_size() + turned_size(plan));
    for (std::int64_t i = block * plan.pairs_each; i < std::min(plan.pairs, (block + 1) * plan.pairs_each); ++i) {
      T* turned = scores + plan.tile_size();
      const T* const key = arguments.input<T>(1) + begin_of(plan, i, sizes.keys, sizes.width);
      attend<T>(plan,
                {.query = arguments.input<T>(0) + begin_of(plan, i, sizes.length, sizes.width),
                 .key = turnable(plan, key, plan.query_row, sizes.width, turned),
                 .value = arguments.input<T>(2) + begin_of(plan, i, sizes.keys, sizes.value_width),
                 .bias = at(bias, i % sizes.heads * plan.bias_head),
                 .result = arguments.output<T>(0) + begin_of(plan, i, sizes.length, sizes.value_width),
                 .saved = arguments.output<T>(1) + i * saved_size(sizes)},
                scores);
    }
  });
}

template <class T>
void run_backward_pair(const KernelArguments& arguments, const Plan& plan, std::int64_t i, T* sums, T* scratch) {
  const AttentionSizes& sizes = plan.sizes;
  const std::int64_t query = begin_of(plan, i, sizes.length, sizes.width);
  const std::int64_t key = begin_of(plan, i, sizes.keys, sizes.width);
  const std::int64_t value = begin_of(plan, i, sizes.keys, sizes.value_width);
  const std::int64_t result = begin_of(plan, i, sizes.length, sizes.value_width);
  const std::int64_t bias = i % sizes.heads * plan.bias_head;
  T* turned = scratch + 2 * plan.tile_size();
  backpropagate<T>(plan,
                   {.query = arguments.input<T>(0) + query,
                    .key = turnable(plan, arguments.input<T>(1) + key, plan.query_row, sizes.width, turned),
                    .value = turnable(plan, arguments.input<T>(2) + value, plan.value_row, sizes.value_width, turned),
                    .saved = arguments.input<T>(3) + i * saved_size(sizes),
                    .upstream = arguments.input<T>(4) + result,
                    .bias = at(plan.bias_size > 0 ? arguments.input<T>(5) : nullptr, bias),
                    .query_gradient = arguments.output<T>(0) + query,
                    .key_gradient = arguments.output<T>(1) + key,
                    .value_gradient = arguments.output<T>(2) + value,
                    .bias_gradient = at(sums, bias)},
                   scratch);
}

// The workspace holds the blocks' sums of the bias's gradient.
template <class T>
void run_backward(const KernelArguments& arguments, const Plan& plan) {
  const bool bias_gradient = plan.options.bias_gradient;
  T* partials = static_cast<T*>(arguments.workspace);
  arguments.workers->for_each(plan.blocks, [&](std::int64_t block, int) {
    T* scratch = thread_scratch<T>(2 * plan.tile_size() + turned_size(plan));
    T* sums = bias_gradient ? partials + block * plan.bias_size : nullptr;
    if (sums) std::fill_n(sums, plan.bias_size, T{0});
    for (std::int64_t i = block * plan.pairs_each; i < std::min(plan.pairs, (block + 1) * plan.pairs_each); ++i)
      run_backward_pair(arguments, plan, i, sums, scratch);
  });
  if (!bias_gradient) return;
  T* out = arguments.output<T>(3);
  std::fill_n(out, plan.bias_size, T{0});
  for (std::int64_t block = 0; block < plan.blocks; ++block) {
    const T* sums = partials + block * plan.bias_size;
    for (std::int64_t j = 0; j < plan.bias_size; ++j) out[j] += sums[j];
  }
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_attention(const KernelRequest& request) {
  const Plan plan = make_plan(request, request.inputs.size() == 4 ? &request.inputs[3] : nullptr);
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([plan](const KernelArguments& arguments) { run_forward<T>(arguments, plan); });
  });
}

std::unique_ptr<Kernel> make_cpu_attention_gradient(const KernelRequest& request) {
  const Plan plan = make_plan(request, request.inputs.size() == 6 ? &request.inputs[5] : nullptr);
  const std::int64_t partials = plan.options.bias_gradient ? plan.blocks * plan.bias_size : 0;
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([plan](const KernelArguments& arguments) { run_backward<T>(arguments, plan); },
                       static_cast<std::size_t>(partials) * sizeof(T));
  });
}

}  // namespace jari
