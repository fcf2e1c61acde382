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

// A pair's keys or values: a row each, [keys, width], and, where the plan turns them, a column each, [width, score_row]
// with zeros behind the last.
template <class T>
struct Turnable {
  const T *rows, *columns;
};

// products[i, j] = left row i of `width` numbers times key j, for the keys that the rows below `end` see.
template <class T>
void multiply_by_keys(const Plan& plan, const T* left, std::int64_t width, Turnable<T> keys, std::int64_t rows,
                      std::int64_t end, T* products) {
  if (plan.turns()) {
    multiply<T>({left, width, 1}, keys.columns, plan.score_row, products, plan.score_row, rows, plan.padded(end),
                width);
  } else {
    multiply_transposed(left, width, keys.rows, width, products, plan.score_row, rows, plan.visible(end), width);
  }
}

// Rows [begin, end) of one pair's scores: scaled, biased, masked; -infinity up to whole vectors.
template <class T>
void score_tile(const Plan& plan, const T* query, Turnable<T> key, const T* bias, std::int64_t begin, std::int64_t end,
                T* scores) {
  const auto& [sizes, options] = std::tie(plan.sizes, plan.options);
  multiply_by_keys(plan, query + begin * sizes.width, sizes.width, key, end - begin, end, scores);
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
    multiply<T>({scores, plan.score_row, 1}, pair.value, sizes.value_width, pair.result + begin * sizes.value_width,
                sizes.value_width, end - begin, sizes.value_width, plan.visible(end));
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
void backpropagate(const Plan& plan, const Backward<T>& pair, T* workspace) {
  const auto [batch, heads, length, keys, width, value_width] = plan.sizes;
  T *scores = workspace, *gradients = workspace + plan.tile_size();
  const T scale = static_cast<T>(plan.options.scale);
  const bool at_once = plan.tile_rows >= length && plan.visible(length) == keys;  // nothing to add to
  if (!at_once) {
    std::fill_n(pair.key_gradient, keys * width, T{0});
    std::fill_n(pair.value_gradient, keys * value_width, T{0});
  }
  for (std::int64_t begin = 0; begin < length; begin += plan.tile_rows) {
    const std::int64_t end = std::min(length, begin + plan.tile_rows), rows = end - begin;
    const std::int64_t columns = plan.visible(end);
    const T *query = pair.query + begin * width, *upstream = pair.upstream + begin * value_width;
    const Strided<T> probabilities = probability_tile(plan, pair, begin, end, scores);
    multiply(transposed(probabilities), upstream, value_width, pair.value_gradient, value_width, columns, value_width,
             rows, T{1}, !at_once);
    multiply_by_keys(plan, upstream, value_width, pair.value, rows, end, gradients);
    score_gradients(plan, pair, probabilities, begin, end, gradients);
    const Strided<T> by_score = {gradients, plan.score_row, 1};
    multiply(by_score, pair.key.rows, width, pair.query_gradient + begin * width, width, rows, width, columns, scale);
    multiply(transposed(by_score), query, width, pair.key_gradient, width, columns, width, rows, scale, !at_once);
  }
}

// Elements of `saved` a pair.
std::int64_t saved_size(const AttentionSizes& sizes) {
  return sizes.saves_probabilities() ? sizes.length * sizes.keys : sizes.length;
}

// Of copies of one pair's operands and results.
std::int64_t copies_size(const Plan& plan) {
  const AttentionSizes& sizes = plan.sizes;
  const std::int64_t widths = sizes.width + sizes.value_width;
  return (plan.options.tokens_first ? 2 * (sizes.length + sizes.keys) * widths : 0) +
         (plan.turns() ? plan.score_row * widths : 0);
}

template <class T>
T* at(T* data, std::int64_t offset) {
  return data ? data + offset : nullptr;
}

// Where a pair's rows lie in an operand of `length` rows of `width` numbers a pair.
struct PairRows {
  PairRows(const Plan& plan, std::int64_t pair, std::int64_t rows, std::int64_t columns)
      : length(rows), width(columns) {
    const std::int64_t heads = plan.sizes.heads;
    if (plan.options.tokens_first) {
      row = heads * width;
      offset = pair / heads * length * row + pair % heads * width;
    } else {
      row = width;
      offset = pair * length * width;
    }
  }

  std::int64_t length, width;
  std::int64_t offset = 0, row = 0;  // elements: of the first row; from row to row
};

// A pair's rows one after the other: where they lie, or, if other heads' rows lie between them, a copy in `scratch`,
// which then moves on.
template <class T>
const T* gathered(const T* operand, const PairRows& rows, T*& scratch) {
  if (rows.row == rows.width) return operand + rows.offset;
  T* const copy = scratch;
  for (std::int64_t i = 0; i < rows.length; ++i)
    std::copy_n(operand + rows.offset + i * rows.row, rows.width, copy + i * rows.width);
  scratch += rows.length * rows.width;
  return copy;
}

// Those rows, of keys or values, turned as well where the plan says so.
template <class T>
Turnable<T> turnable(const Plan& plan, const T* rows, std::int64_t width, T*& scratch) {
  if (!plan.turns()) return {rows, nullptr};
  T* const columns = scratch;
  const std::int64_t keys = plan.sizes.keys;
  for (std::int64_t p = 0; p < width; ++p) {
    T* const column = columns + p * plan.score_row;
    for (std::int64_t j = 0; j < keys; ++j) column[j] = rows[j * width + p];
    std::fill(column + keys, column + plan.score_row, T{0});
  }
  scratch += width * plan.score_row;
  return {rows, columns};
}

// Where to write a pair's rows, in the same way; `scattered` brings a copy to its place.
template <class T>
T* to_be_scattered(T* result, const PairRows& rows, T*& scratch) {
  if (rows.row == rows.width) return result + rows.offset;
  T* const copy = scratch;
  scratch += rows.length * rows.width;
  return copy;
}

template <class T>
void scatter(const T* rows_of_pair, const PairRows& rows, T* result) {
  if (rows.row == rows.width) return;
  for (std::int64_t i = 0; i < rows.length; ++i)
    std::copy_n(rows_of_pair + i * rows.width, rows.width, result + rows.offset + i * rows.row);
}

template <class T>
void run_forward(const KernelArguments& arguments, const Plan& plan) {
  const AttentionSizes& sizes = plan.sizes;
  const T* bias = plan.bias_size > 0 ? arguments.input<T>(3) : nullptr;
  arguments.workers->for_each(plan.blocks, [&](std::int64_t block, int) {
    T* const scores = thread_scratch<T>(plan.tile_size() + copies_size(plan));
    for (std::int64_t i = block * plan.pairs_each; i < std::min(plan.pairs, (block + 1) * plan.pairs_each); ++i) {
      T* copies = scores + plan.tile_size();
      const PairRows of_result(plan, i, sizes.length, sizes.value_width);
      T* const result = to_be_scattered(arguments.output<T>(0), of_result, copies);
      attend<T>(
          plan,
          {.query = gathered(arguments.input<T>(0), PairRows(plan, i, sizes.length, sizes.width), copies),
           .key = turnable(plan, gathered(arguments.input<T>(1), PairRows(plan, i, sizes.keys, sizes.width), copies),
                           sizes.width, copies),
           .value = gathered(arguments.input<T>(2), PairRows(plan, i, sizes.keys, sizes.value_width), copies),
           .bias = at(bias, i % sizes.heads * plan.bias_head),
           .result = result,
           .saved = arguments.output<T>(1) + i * saved_size(sizes)},
          scores);
      scatter(result, of_result, arguments.output<T>(0));
    }
  });
}

// One pair, with copies of its rows in `scratch` where others lie between them.
template <class T>
void run_backward_pair(const KernelArguments& arguments, const Plan& plan, std::int64_t i, T* sums, T* scratch) {
  const AttentionSizes& sizes = plan.sizes;
  const PairRows of_query(plan, i, sizes.length, sizes.width), of_key(plan, i, sizes.keys, sizes.width);
  const PairRows of_value(plan, i, sizes.keys, sizes.value_width), of_result(plan, i, sizes.length, sizes.value_width);
  const std::int64_t bias_at = i % sizes.heads * plan.bias_head;
  T* copies = scratch + 2 * plan.tile_size();
  T* const query_gradient = to_be_scattered(arguments.output<T>(0), of_query, copies);
  T* const key_gradient = to_be_scattered(arguments.output<T>(1), of_key, copies);
  T* const value_gradient = to_be_scattered(arguments.output<T>(2), of_value, copies);
  backpropagate<T>(
      plan,
      {.query = gathered(arguments.input<T>(0), of_query, copies),
       .key = turnable(plan, gathered(arguments.input<T>(1), of_key, copies), sizes.width, copies),
       .value = turnable(plan, gathered(arguments.input<T>(2), of_value, copies), sizes.value_width, copies),
       .saved = arguments.input<T>(3) + i * saved_size(sizes),
       .upstream = gathered(arguments.input<T>(4), of_result, copies),
       .bias = at(plan.bias_size > 0 ? arguments.input<T>(5) : nullptr, bias_at),
       .query_gradient = query_gradient,
       .key_gradient = key_gradient,
       .value_gradient = value_gradient,
       .bias_gradient = at(sums, bias_at)},
      scratch);
  scatter(query_gradient, of_query, arguments.output<T>(0));
  scatter(key_gradient, of_key, arguments.output<T>(1));
  scatter(value_gradient, of_value, arguments.output<T>(2));
}

// The workspace holds the blocks' sums of the bias's gradient.
template <class T>
void run_backward(const KernelArguments& arguments, const Plan& plan) {
  const bool bias_gradient = plan.options.bias_gradient;
  T* partials = static_cast<T*>(arguments.workspace);
  arguments.workers->for_each(plan.blocks, [&](std::int64_t block, int) {
    T* scratch = thread_scratch<T>(2 * plan.tile_size() + copies_size(plan));
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
