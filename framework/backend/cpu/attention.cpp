// Attention, one (batch, head) pair at a time: a pair's operands and scores stay in one core's cache. Long sequences go
// through tiles of rows of the scores, which are never stored whole.

#include "framework/ops/attention.hpp"

#include <cmath>
#include <limits>
#include <tuple>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/products.hpp"
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
constexpr std::int64_t kCausalRows = 32;               // at most: what lies right of their last panel is not computed
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

// A pair's keys or values: where they lie, and made ready, transposed, where the plan turns them.
template <class Products>
struct Tokens {
  using T = typename Products::Number;
  const T* rows;
  std::int64_t row;  // elements from token to token
  std::int64_t width;
  typename Products::Right columns;  // [width, keys]
};

// products[i, j] = left row i times key j, for the keys that the rows below `end` see.
template <class Products>
void multiply_by_keys(const Plan& plan, const typename Products::Number* left, std::int64_t left_row,
                      const Tokens<Products>& keys, std::int64_t rows, std::int64_t end,
                      typename Products::Number* products, void* memory) {
  if (plan.turns()) {
    const std::int64_t columns = std::min(plan.padded(end), keys.columns.columns);
    Products::multiply({left, left_row, 1}, keys.columns, products, plan.score_row, rows, columns, keys.width, false,
                       memory);
  } else {
    multiply_transposed(left, left_row, keys.rows, keys.row, products, plan.score_row, rows, plan.visible(end),
                        keys.width);
  }
}

// Rows [begin, end) of one pair's scores: scaled, biased, masked; -infinity up to whole vectors.
template <class Products, class T>
void score_tile(const Plan& plan, const T* query, const Tokens<Products>& key, const T* bias, std::int64_t begin,
                std::int64_t end, T* scores, void* memory) {
  const auto& [sizes, options] = std::tie(plan.sizes, plan.options);
  multiply_by_keys(plan, query + begin * plan.query_row, plan.query_row, key, end - begin, end, scores, memory);
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

// A pair's rows as the right operand of products, made ready where sequences are long.
template <class Products>
struct RightRows {
  using T = typename Products::Number;
  RightRows(const Plan& plan, const T* first, std::int64_t row_elements, std::int64_t count, std::int64_t width,
            void* memory)
      : rows(first), row(row_elements), columns(width), is_ready(plan.turns()) {
    if (is_ready) ready = Products::right({first, row, 1}, count, width, memory);
  }

  // c = a times the first k rows, or c += it.
  void multiply(Strided<T> a, T* c, std::int64_t c_row, std::int64_t m, std::int64_t k, bool accumulate,
                void* memory) const {
    if (is_ready) {
      Products::multiply(a, ready, c, c_row, m, columns, k, accumulate, memory);
    } else {
      cpu::multiply<T>(a, rows, row, c, c_row, m, columns, k, T{1}, accumulate);
    }
  }

  const T* rows;
  std::int64_t row, columns;
  bool is_ready;
  typename Products::Right ready{};
};

// What the products of one pair take.
template <class Products>
struct PairMemory {
  using T = typename Products::Number;
  PairMemory(const Plan& plan, int tiles) {
    const auto [batch, heads, length, keys, width, value_width] = plan.sizes;
    const std::int64_t wide = std::max(width, value_width),
                       rows = std::max<std::int64_t>(plan.tile_rows, kLanes<float>);
    const std::int64_t columns_bytes = plan.turns() ? Products::right_bytes(wide, keys) : 0;
    const std::int64_t rows_bytes = plan.turns() ? Products::right_bytes(std::max(keys, rows), wide) : 0;
    const std::int64_t left_bytes = plan.turns() ? std::max(Products::left_bytes(rows, std::max(wide, keys)),
                                                            Products::left_bytes(keys, std::max(wide, rows)))
                                                 : 0;
    Pieces pieces(thread_scratch(static_cast<std::size_t>(tiles * plan.tile_size() + plan.tile_rows) * sizeof(T) + 256 +
                                 static_cast<std::size_t>(2 * (columns_bytes + rows_bytes) + left_bytes)));
    scores = pieces.numbers<T>(plan.tile_size());
    inverse_sums = pieces.numbers<T>(plan.tile_rows);
    gradients = tiles > 1 ? pieces.numbers<T>(plan.tile_size()) : nullptr;
    for (void*& columns : turned) columns = pieces.bytes(columns_bytes);
    for (void*& each : right) each = pieces.bytes(rows_bytes);
    left = pieces.bytes(left_bytes);
  }

  T *scores, *gradients;  // a tile each
  T* inverse_sums;        // of a tile's rows
  void *turned[2], *right[2], *left;
};

template <class Products>
Tokens<Products> tokens_of(const Plan& plan, const typename Products::Number* rows, std::int64_t row,
                           std::int64_t width, void* memory) {
  Tokens<Products> tokens{rows, row, width, {}};
  if (plan.turns()) tokens.columns = Products::right({rows, 1, row}, width, plan.sizes.keys, memory);
  return tokens;
}

template <class Products>
struct Forward {
  using T = typename Products::Number;
  const T *query, *key, *value, *bias;  // bias: null if there is none
  T *result, *saved;
};

// Softmax of a tile's rows, in place; keeps what the gradient needs. Where that is not the probabilities, rows are not
// yet divided by their sums: it is cheaper to divide the products.
template <class T>
void softmax_tile(const Plan& plan, std::int64_t begin, std::int64_t end, T* scores, T* saved, T* inverse_sums) {
  const std::int64_t keys = plan.sizes.keys, visible = plan.visible(end), columns = plan.padded(end);
  for (std::int64_t i = begin; i < end; ++i, scores += plan.score_row) {
    const T largest = largest_of(scores, columns);
    const T sum = exponentials(scores, columns, largest, scores);
    if (plan.sizes.saves_probabilities()) {
      scale_row(scores, columns, 1 / sum);
      std::copy_n(scores, visible, saved + i * keys);
      std::fill(saved + i * keys + visible, saved + (i + 1) * keys, T{0});
    } else {
      saved[i] = largest + std::log(sum);
      inverse_sums[i - begin] = 1 / sum;
    }
  }
}

template <class Products>
void attend(const Plan& plan, const Forward<Products>& pair) {
  const AttentionSizes& sizes = plan.sizes;
  const PairMemory<Products> memory(plan, 1);
  const Tokens<Products> key = tokens_of<Products>(plan, pair.key, plan.query_row, sizes.width, memory.turned[0]);
  const RightRows<Products> value(plan, pair.value, plan.value_row, sizes.keys, sizes.value_width, memory.right[0]);
  for (std::int64_t begin = 0; begin < sizes.length; begin += plan.tile_rows) {
    const std::int64_t end = std::min(sizes.length, begin + plan.tile_rows);
    score_tile(plan, pair.query, key, pair.bias, begin, end, memory.scores, memory.left);
    softmax_tile(plan, begin, end, memory.scores, pair.saved, memory.inverse_sums);
    value.multiply({memory.scores, plan.score_row, 1}, pair.result + begin * plan.value_row, plan.value_row,
                   end - begin, plan.visible(end), false, memory.left);
    if (sizes.saves_probabilities()) continue;
    for (std::int64_t i = begin; i < end; ++i)
      scale_row(pair.result + i * plan.value_row, sizes.value_width, memory.inverse_sums[i - begin]);
  }
}

template <class Products>
struct Backward {
  using T = typename Products::Number;
  const T *query, *key, *value, *saved, *upstream, *bias;
  T *query_gradient, *key_gradient, *value_gradient;
  T* bias_gradient;  // added to; null if not asked for
};

// Rows of the probabilities: the saved ones, or computed again into `scores`.
template <class Products, class T>
Strided<T> probability_tile(const Plan& plan, const Backward<Products>& pair, const Tokens<Products>& key,
                            std::int64_t begin, std::int64_t end, T* scores, void* memory) {
  if (plan.sizes.saves_probabilities()) return {pair.saved + begin * plan.sizes.keys, plan.sizes.keys, 1};
  score_tile(plan, pair.query, key, pair.bias, begin, end, scores, memory);
  for (std::int64_t i = begin; i < end; ++i) {
    T* row = scores + (i - begin) * plan.score_row;
    const T logarithm = pair.saved[i];
    for (std::int64_t j = 0; j < plan.padded(end); j += kLanes<T>)
      store(row + j, exponentials_of(load(row + j) - logarithm));
  }
  return {scores, plan.score_row, 1};
}

// From the gradients of a tile's probabilities to those of its products, in place.
template <class T>
void score_gradients(const Plan& plan, T* bias_gradient, Strided<T> probabilities, std::int64_t begin, std::int64_t end,
                     T* gradients) {
  const std::int64_t columns = plan.visible(end);
  const T scale = static_cast<T>(plan.options.scale);
  for (std::int64_t i = begin; i < end; ++i, gradients += plan.score_row) {
    const T* probability = probabilities.data + (i - begin) * probabilities.row;
    const T mean = sum_of<T>(columns, [&](std::int64_t j) { return probability[j] * gradients[j]; });
    if (bias_gradient) {
      T* sums = bias_gradient + i * plan.sizes.keys;
      for (std::int64_t j = 0; j < columns; ++j) sums[j] += probability[j] * (gradients[j] - mean);
    }
    for (std::int64_t j = 0; j < columns; ++j) gradients[j] = probability[j] * (gradients[j] - mean) * scale;
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

template <class Products>
void backpropagate(const Plan& plan, const Backward<Products>& pair) {
  using T = typename Products::Number;
  const auto [batch, heads, length, keys, width, value_width] = plan.sizes;
  const std::int64_t query_row = plan.query_row, value_row = plan.value_row;
  const PairMemory<Products> memory(plan, 2);
  const Tokens<Products> key = tokens_of<Products>(plan, pair.key, query_row, width, memory.turned[0]);
  const Tokens<Products> value = tokens_of<Products>(plan, pair.value, value_row, value_width, memory.turned[1]);
  const RightRows<Products> key_rows(plan, pair.key, query_row, keys, width, memory.right[0]);
  const bool at_once = plan.tile_rows >= length && plan.visible(length) == keys;  // nothing to add to
  if (!at_once) {
    fill_with_zeros(pair.key_gradient, query_row, keys, width);
    fill_with_zeros(pair.value_gradient, value_row, keys, value_width);
  }
  for (std::int64_t begin = 0; begin < length; begin += plan.tile_rows) {
    const std::int64_t end = std::min(length, begin + plan.tile_rows), rows = end - begin;
    const std::int64_t columns = plan.visible(end);
    const T *query = pair.query + begin * query_row, *upstream = pair.upstream + begin * value_row;
    const Strided<T> probabilities = probability_tile(plan, pair, key, begin, end, memory.scores, memory.left);
    const RightRows<Products> upstream_rows(plan, upstream, value_row, rows, value_width, memory.right[1]);
    upstream_rows.multiply(transposed(probabilities), pair.value_gradient, value_row, columns, rows, !at_once,
                           memory.left);
    multiply_by_keys(plan, upstream, value_row, value, rows, end, memory.gradients, memory.left);
    score_gradients(plan, pair.bias_gradient, probabilities, begin, end, memory.gradients);
    const Strided<T> by_score = {memory.gradients, plan.score_row, 1};
    key_rows.multiply(by_score, pair.query_gradient + begin * query_row, query_row, rows, columns, false, memory.left);
    const RightRows<Products> query_rows(plan, query, query_row, rows, width, memory.right[1]);
    query_rows.multiply(transposed(by_score), pair.key_gradient, query_row, columns, rows, !at_once, memory.left);
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

template <class Products>
void run_forward(const KernelArguments& arguments, const Plan& plan) {
  using T = typename Products::Number;
  const AttentionSizes& sizes = plan.sizes;
  const T* bias = plan.bias_size > 0 ? arguments.input<T>(3) : nullptr;
  arguments.workers->for_each(plan.blocks, [&](std::int64_t block, int) {
    for (std::int64_t i = block * plan.pairs_each; i < std::min(plan.pairs, (block + 1) * plan.pairs_each); ++i) {
      attend<Products>(plan, {.query = arguments.input<T>(0) + begin_of(plan, i, sizes.length, sizes.width),
                              .key = arguments.input<T>(1) + begin_of(plan, i, sizes.keys, sizes.width),
                              .value = arguments.input<T>(2) + begin_of(plan, i, sizes.keys, sizes.value_width),
                              .bias = at(bias, i % sizes.heads * plan.bias_head),
                              .result = arguments.output<T>(0) + begin_of(plan, i, sizes.length, sizes.value_width),
                              .saved = arguments.output<T>(1) + i * saved_size(sizes)});
    }
  });
}

template <class Products>
void run_backward_pair(const KernelArguments& arguments, const Plan& plan, std::int64_t i,
                       typename Products::Number* sums) {
  using T = typename Products::Number;
  const AttentionSizes& sizes = plan.sizes;
  const std::int64_t query = begin_of(plan, i, sizes.length, sizes.width);
  const std::int64_t key = begin_of(plan, i, sizes.keys, sizes.width);
  const std::int64_t value = begin_of(plan, i, sizes.keys, sizes.value_width);
  const std::int64_t result = begin_of(plan, i, sizes.length, sizes.value_width);
  const std::int64_t bias = i % sizes.heads * plan.bias_head;
  backpropagate<Products>(plan, {.query = arguments.input<T>(0) + query,
                                 .key = arguments.input<T>(1) + key,
                                 .value = arguments.input<T>(2) + value,
                                 .saved = arguments.input<T>(3) + i * saved_size(sizes),
                                 .upstream = arguments.input<T>(4) + result,
                                 .bias = at(plan.bias_size > 0 ? arguments.input<T>(5) : nullptr, bias),
                                 .query_gradient = arguments.output<T>(0) + query,
                                 .key_gradient = arguments.output<T>(1) + key,
                                 .value_gradient = arguments.output<T>(2) + value,
                                 .bias_gradient = at(sums, bias)});
}

// The workspace holds the blocks' sums of the bias's gradient.
template <class Products>
void run_backward(const KernelArguments& arguments, const Plan& plan) {
  using T = typename Products::Number;
  const bool bias_gradient = plan.options.bias_gradient;
  T* partials = static_cast<T*>(arguments.workspace);
  arguments.workers->for_each(plan.blocks, [&](std::int64_t block, int) {
    T* sums = bias_gradient ? partials + block * plan.bias_size : nullptr;
    if (sums) std::fill_n(sums, plan.bias_size, T{0});
    for (std::int64_t i = block * plan.pairs_each; i < std::min(plan.pairs, (block + 1) * plan.pairs_each); ++i)
      run_backward_pair<Products>(arguments, plan, i, sums);
  });
  if (!bias_gradient) return;
  T* out = arguments.output<T>(3);
  std::fill_n(out, plan.bias_size, T{0});
  for (std::int64_t block = 0; block < plan.blocks; ++block) {
    const T* sums = partials + block * plan.bias_size;
    for (std::int64_t j = 0; j < plan.bias_size; ++j) out[j] += sums[j];
  }
}

// Short sequences' products are too small to be worth rounding.
template <class Make>
std::unique_ptr<Kernel> for_products_of(const KernelRequest& request, const Plan& plan, const Make& make) {
  KernelRequest own = request;
  if (!plan.turns()) own.products = Products::exact;
  return for_products(own, make);
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_attention(const KernelRequest& request) {
  const Plan plan = make_plan(request, request.inputs.size() == 4 ? &request.inputs[3] : nullptr);
  return for_products_of(request, plan, [&]<class Products>() {
    return make_kernel([plan](const KernelArguments& arguments) { run_forward<Products>(arguments, plan); });
  });
}

std::unique_ptr<Kernel> make_cpu_attention_gradient(const KernelRequest& request) {
  const Plan plan = make_plan(request, request.inputs.size() == 6 ? &request.inputs[5] : nullptr);
  const std::int64_t partials = plan.options.bias_gradient ? plan.blocks * plan.bias_size : 0;
  return for_products_of(request, plan, [&]<class Products>() {
    return make_kernel([plan](const KernelArguments& arguments) { run_backward<Products>(arguments, plan); },
                       static_cast<std::size_t>(partials) * sizeof(typename Products::Number));
  });
}

}  // namespace jari
