#pragma once
// What the attention kernels share. A block has a square tile of one (batch, head) pair's scores: its threads stand in
// a square of kSide x kSide, and each holds 4 x 4 neighbours of the tile in registers. All products are made alike: 32
// steps of the contraction at a time lie in shared memory, [step][row] and [step][column], and a thread multiplies its
// four rows by its four columns. Steps are taken in order.

#include "framework/backend/cuda/real_math.hpp"
#include "framework/backend/cuda/rows.hpp"
#include "framework/ops/attention.hpp"

namespace jari::cuda {

inline constexpr int kEach = 4;    // rows and columns a thread
inline constexpr int kDepth = 32;  // steps of a contraction at a time

// Passed to kernels by value.
struct AttentionPlan {
  std::int64_t batch, heads, length, keys, width, value_width;
  double scale;
  bool causal, tokens_first, saves_probabilities;
  std::int64_t bias_head;  // elements from one head's bias to the next (0: shared)

  // How many keys the query at `row` sees.
  __device__ std::int64_t visible(std::int64_t row) const { return causal && row + 1 < keys ? row + 1 : keys; }
};

inline AttentionPlan attention_plan(const KernelRequest& request, const TensorType* bias) {
  const auto& options = request.attributes.as<AttentionAttributes>();
  const AttentionSizes sizes =
      attention_sizes(request.op->name, options, request.inputs[0], request.inputs[1], request.inputs[2]);
  return {.batch = sizes.batch,
          .heads = sizes.heads,
          .length = sizes.length,
          .keys = sizes.keys,
          .width = sizes.width,
          .value_width = sizes.value_width,
          .scale = options.scale,
          .causal = options.causal,
          .tokens_first = options.tokens_first,
          .saves_probabilities = sizes.saves_probabilities(),
          .bias_head = bias && bias->shape.rank() == 3 ? sizes.length * sizes.keys : 0};
}

// The tokens of one pair in an operand.
template <class T>
struct Tokens {
  T* first;
  std::int64_t step;  // elements from one to the next
  std::int64_t count, width;
};

template <class T>
__device__ Tokens<T> tokens_of(T* operand, const AttentionPlan& plan, std::int64_t pair, std::int64_t count,
                               std::int64_t width) {
  if (!plan.tokens_first) return {operand + pair * count * width, width, count, width};
  const std::int64_t batch = pair / plan.heads, head = pair % plan.heads;
  return {operand + (batch * count * plan.heads + head) * width, plan.heads * width, count, width};
}

template <class T>
struct alignas(16) Four {
  T of[kEach];
};

// Numbers of a tile that one thread holds.
template <class T>
struct Held {
  T at[kEach][kEach];
  __device__ void clear() {
    for (int i = 0; i < kEach; ++i)
      for (int j = 0; j < kEach; ++j) at[i][j] = 0;
  }
};

template <class T, int kSide>
struct Tile {
  static constexpr int kSize = kSide * kEach;     // rows and columns
  static constexpr int kThreads = kSide * kSide;  // of a block
  static constexpr int kPitch = kSize + kEach;    // in shared memory: steps lie on different banks
  static constexpr int kStepNumbers = kDepth * kPitch;
  static constexpr std::size_t kBytes = (2 * kStepNumbers + kSize * kPitch) * sizeof(T);

  // Blocks that a processor has room for, which the compiler then keeps the registers small for: it would spend them on
  // loading in advance. `held`: tiles that a thread holds. 128 registers a thread, 168 where they are more than four.
  static constexpr int blocks(int held) {
    if (sizeof(T) != sizeof(float)) return 1;
    return (held <= 4 ? 512 : 384) / kThreads;
  }

  // Where the thread's rows and columns begin.
  __device__ static int row() { return static_cast<int>(threadIdx.x) / kSide * kEach; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) % kSide * kEach; }

  explicit __device__ Tile(T* shared) : left(shared), right(left + kStepNumbers), pairs(right + kStepNumbers) {}

  // held += the product of `steps` steps.
  __device__ static void multiply(Held<T>& held, const T* rows, const T* columns, int steps) {
#pragma unroll 4
    for (int step = 0; step < steps; ++step) {
      const Four<T> a = *reinterpret_cast<const Four<T>*>(rows + step * kPitch + row());
      const Four<T> b = *reinterpret_cast<const Four<T>*>(columns + step * kPitch + column());
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) held.at[i][j] += a.of[i] * b.of[j];
    }
  }

  // Tokens from `first` on, steps going along their width from `begin` on: [step][token]. A thread has one step.
  __device__ static void load_along_width(const Tokens<const T>& tokens, std::int64_t first, std::int64_t begin,
                                          int steps, T* to) {
    constexpr int kApart = kThreads / kDepth;
    const int step = static_cast<int>(threadIdx.x) % kDepth;
    if (step >= steps) return;
    const std::int64_t left_over = tokens.count - first;
    const int count = static_cast<int>(left_over < kSize ? left_over : kSize);
    int token = static_cast<int>(threadIdx.x) / kDepth;
    const T* from = tokens.first + (first + token) * tokens.step + begin + step;
    for (; token < kSize; token += kApart, from += kApart * tokens.step)
      to[step * kPitch + token] = token < count ? *from : T(0);
  }

  // Tokens from `first` on, one a step, and of them the columns from `begin` on: [token][column]. A thread has one
  // column.
  __device__ static void load_along_tokens(const Tokens<const T>& tokens, std::int64_t first, std::int64_t begin,
                                           int steps, T* to) {
    constexpr int kApart = kThreads / kSize;
    const int column = static_cast<int>(threadIdx.x) % kSize;
    const bool is_there = begin + column < tokens.width;
    int step = static_cast<int>(threadIdx.x) / kSize;
    const T* from = tokens.first + (first + step) * tokens.step + begin + column;
    for (; step < steps; step += kApart, from += kApart * tokens.step)
      to[step * kPitch + column] = is_there ? *from : T(0);
  }

  // held = left tokens from `row` on times right ones from `column` on, along their width.
  __device__ void multiply_tokens(Held<T>& held, const Tokens<const T>& a, std::int64_t first_row,
                                  const Tokens<const T>& b, std::int64_t first_column) const {
    held.clear();
    for (std::int64_t begin = 0; begin < a.width; begin += kDepth) {
      const int steps = static_cast<int>(a.width - begin < kDepth ? a.width - begin : kDepth);
      load_along_width(a, first_row, begin, steps, left);
      load_along_width(b, first_column, begin, steps, right);
      __syncthreads();
      multiply(held, left, right, steps);
      __syncthreads();
    }
  }

  // held += pairs transposed times tokens from `first` on, of which the columns from `begin` on. `pairs`, [token][row],
  // was written just before.
  __device__ void add_weighted_tokens(Held<T>& held, const Tokens<const T>& tokens, std::int64_t first,
                                      std::int64_t begin) const {
    const std::int64_t left_over = tokens.count - first, count = left_over < kSize ? left_over : kSize;
    for (int done = 0; done < count; done += kDepth) {
      const int steps = static_cast<int>(count - done < kDepth ? count - done : kDepth);
      load_along_tokens(tokens, first + done, begin, steps, right);
      __syncthreads();
      multiply(held, pairs + done * kPitch, right, steps);
      __syncthreads();
    }
  }

  // To `pairs` as [row][column], or turned.
  __device__ void put_pairs(const Held<T>& held) const {
    for (int i = 0; i < kEach; ++i) {
      Four<T> four;
      for (int j = 0; j < kEach; ++j) four.of[j] = held.at[i][j];
      *reinterpret_cast<Four<T>*>(pairs + (row() + i) * kPitch + column()) = four;
    }
  }
  __device__ void put_turned_pairs(const Held<T>& held) const {
    for (int j = 0; j < kEach; ++j) {
      Four<T> four;
      for (int i = 0; i < kEach; ++i) four.of[i] = held.at[i][j];
      *reinterpret_cast<Four<T>*>(pairs + (column() + j) * kPitch + row()) = four;
    }
  }

  // Of the values that the threads of a row hold, to all of them.
  template <class Combine>
  __device__ static T over_row(T value, Combine combine) {
    for (int distance = kSide / 2; distance > 0; distance /= 2)
      value = combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
    return value;
  }

  // Rows to tokens from `first` on, columns from `begin` on, multiplied by `factor(i)`, i being the row of the four.
  template <class Factor>
  __device__ static void store(const Held<T>& held, const Tokens<T>& tokens, std::int64_t first, std::int64_t begin,
                               const Factor& factor) {
    for (int i = 0; i < kEach; ++i) {
      const std::int64_t token = first + row() + i;
      if (token >= tokens.count) continue;
      T* const to = tokens.first + token * tokens.step;
      for (int j = 0; j < kEach; ++j) {
        const std::int64_t at = begin + column() + j;
        if (at < tokens.width) to[at] = held.at[i][j] * factor(i);
      }
    }
  }

  T *left, *right, *pairs;  // shared memory: [kDepth][kPitch], [kDepth][kPitch], [kSize][kPitch]
};

// Scores of queries from `row` on and keys from `column` on: scaled, biased (null: no bias), -infinity where there is
// no such query or the query does not see the key.
template <class T, int kSide>
__device__ void score_tile(const Tile<T, kSide>& tile, const AttentionPlan& plan, const Tokens<const T>& queries,
                           std::int64_t row, const Tokens<const T>& keys, std::int64_t column, const T* bias,
                           Held<T>& scores) {
  tile.multiply_tokens(scores, queries, row, keys, column);
  const T scale = static_cast<T>(plan.scale);
  for (int i = 0; i < kEach; ++i) {
    const std::int64_t query = row + tile.row() + i;
    const std::int64_t visible = query < plan.length ? plan.visible(query) : 0;
    for (int j = 0; j < kEach; ++j) {
      const std::int64_t key = column + tile.column() + j;
      T& score = scores.at[i][j];
      score = key < visible ? score * scale + (bias ? bias[query * plan.keys + key] : T(0)) : -static_cast<T>(INFINITY);
    }
  }
}

// Where a tile of keys need not be looked at: no query of the tile at `row` sees it.
template <class T, int kSide>
__device__ std::int64_t visible_end(const AttentionPlan& plan, std::int64_t row) {
  const std::int64_t last = row + Tile<T, kSide>::kSize - 1;
  return plan.visible(last < plan.length ? last : plan.length - 1);
}

}  // namespace jari::cuda
