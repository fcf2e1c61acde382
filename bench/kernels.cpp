// Hot kernels alone, at the shapes of the probe's step (batch 256, length 20, width 128) and of the reference language
// model's (batch 32, length 128, width 128, 4 heads, 2,585 classes), there with products in f32 and in bf16.
// The argument is the number of threads.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>

#include "framework/backend/kernel.hpp"
#include "framework/ops/attention.hpp"
#include "framework/ops/cross_entropy.hpp"
#include "framework/ops/gelu_mlp.hpp"
#include "framework/ops/layer_norm.hpp"
#include "framework/ops/matmul.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/optimizer_step.hpp"
#include "framework/ops/random.hpp"

namespace {

using namespace jari;

// An op's operands, filled with numbers that suit it, and its kernel.
class Bench {
 public:
  Bench(const Op& op, std::vector<TensorType> inputs, Attributes attributes, Products products = Products::exact)
      : request_{&op, attributes, inputs, op.infer(inputs, attributes), products}, kernel_(make_cpu_kernel(request_)) {
    std::mt19937 generator(1);
    for (const TensorType& type : request_.inputs) {
      std::vector<float>& data = memory_.emplace_back(static_cast<std::size_t>(type.shape.size()));
      if (type.dtype == DType::i32) {
        auto* ids = reinterpret_cast<std::int32_t*>(data.data());
        std::generate_n(ids, data.size(), [&] { return static_cast<std::int32_t>(generator() % 50); });
      } else {
        std::generate(data.begin(), data.end(), [&] { return std::uniform_real_distribution<float>(0, 1)(generator); });
      }
      inputs_.push_back(data.data());
    }
    for (const TensorType& type : request_.outputs) {
      outputs_.push_back(memory_.emplace_back(static_cast<std::size_t>(type.shape.size())).data());
    }
    workspace_.resize(kernel_->workspace_bytes() + 64);
  }

  // `operations`: floating-point operations of one run, reported as a rate.
  void run(benchmark::State& state, double operations = 0) {
    ThreadPool pool(static_cast<int>(state.range(0)));
    const Workers workers(pool);
    void* start = workspace_.data();
    std::size_t space = workspace_.size();
    const KernelArguments arguments = {inputs_.data(), outputs_.data(),
                                       std::align(64, kernel_->workspace_bytes(), start, space), &workers};
    kernel_->run(arguments);  // touches the memory
    for (auto _ : state) kernel_->run(arguments);
    if (operations > 0) {
      state.counters["flops"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
    }
  }

 private:
  KernelRequest request_;
  std::unique_ptr<Kernel> kernel_;
  std::deque<std::vector<float>> memory_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<std::byte> workspace_;
};

TensorType f32(Shape shape) { return {DType::f32, std::move(shape)}; }
TensorType i32(Shape shape) { return {DType::i32, std::move(shape)}; }

void matmul_case(benchmark::State& state, Shape left, Shape right, bool transpose_left, bool transpose_right) {
  const MatmulAttributes attributes = {transpose_left, transpose_right};
  const MatmulSizes sizes = matmul_sizes(f32(left), f32(right), attributes);
  Bench(op_matmul, {f32(left), f32(right)}, attributes)
      .run(state, 2.0 * static_cast<double>(sizes.batch.size() * sizes.m * sizes.n * sizes.k));
}

void attention_case(benchmark::State& state, bool gradient, std::int64_t batch, std::int64_t heads, std::int64_t length,
                    std::int64_t width, bool causal) {
  const TensorType rows = f32({batch, heads, length, width});
  const AttentionAttributes attributes = {.scale = 0.1, .causal = causal};
  const double product = 2.0 * static_cast<double>(batch * heads * length * length * width);
  if (!gradient) {
    Bench(op_attention, {rows, rows, rows, f32({length, length})}, attributes).run(state, 2 * product);
    return;
  }
  const bool saves_probabilities = attention_sizes("", attributes, rows, rows, rows).saves_probabilities();
  const TensorType saved = saves_probabilities ? f32({batch, heads, length, length}) : f32({batch, heads, length});
  const AttentionAttributes with_bias = {.scale = 0.1, .causal = causal, .bias_gradient = true};
  Bench(op_attention_gradient, {rows, rows, rows, saved, rows, f32({length, length})}, with_bias)
      .run(state, (saves_probabilities ? 4 : 5) * product);
}

void other_case(benchmark::State& state, const Op& op, std::vector<TensorType> inputs, Attributes attributes) {
  Bench(op, std::move(inputs), std::move(attributes)).run(state);
}

// What the reference language model's step consists of: its rows are tokens.
constexpr std::int64_t kTokens = 32 * 128, kWidth = 128, kHidden = 512, kClasses = 2585;

void language_matmul(benchmark::State& state, Products products, bool transpose_left, bool transpose_right) {
  const TensorType rows = f32({kTokens, kWidth}), right = transpose_left ? rows : f32({kWidth, kWidth});
  Bench(op_matmul, {rows, right}, MatmulAttributes{transpose_left, transpose_right}, products)
      .run(state, 2.0 * kTokens * kWidth * kWidth);
}

void language_mlp(benchmark::State& state, Products products, bool gradient) {
  const GeluMlpAttributes attributes = {.biased = true};
  const TensorType rows = f32({kTokens, kWidth}), inner = f32({kWidth, kHidden}), outer = f32({kHidden, kWidth});
  const double product = 2.0 * kTokens * kWidth * kHidden;
  if (gradient) {
    Bench(op_gelu_mlp_gradient, {rows, inner, outer, f32({kTokens, kHidden}), rows}, attributes, products)
        .run(state, 4 * product);
  } else {
    Bench(op_gelu_mlp, {rows, inner, outer, f32({kHidden})}, attributes, products).run(state, 2 * product);
  }
}

void language_attention(benchmark::State& state, Products products, bool gradient) {
  const AttentionAttributes attributes = {.scale = 0.1, .causal = true, .tokens_first = true};
  const TensorType tokens = f32({32, 128, 4, 32});
  const double product = 2.0 * 32 * 4 * 128 * 128 * 32 / 2;  // half of each is masked
  if (gradient) {
    Bench(op_attention_gradient, {tokens, tokens, tokens, f32({32, 4, 128}), tokens}, attributes, products)
        .run(state, 5 * product);
  } else {
    Bench(op_attention, {tokens, tokens, tokens}, attributes, products).run(state, 2 * product);
  }
}

void language_loss(benchmark::State& state, Products products) {
  Bench(op_linear_cross_entropy, {f32({kTokens, kWidth}), f32({kClasses, kWidth}), i32({kTokens})}, {}, products)
      .run(state, 3 * 2.0 * kTokens * kWidth * kClasses);
}

#define JARI_BENCH(function, name, ...) \
  BENCHMARK_CAPTURE(function, name, __VA_ARGS__)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond)

JARI_BENCH(matmul_case, probe_projection, Shape{5120, 128}, Shape{128, 128}, false, false);
JARI_BENCH(matmul_case, probe_projection_input_gradient, Shape{5120, 128}, Shape{128, 128}, false, true);
JARI_BENCH(matmul_case, probe_projection_weight_gradient, Shape{5120, 128}, Shape{5120, 128}, true, false);
JARI_BENCH(matmul_case, probe_logits, Shape{5120, 128}, Shape{128, 50}, false, false);
JARI_BENCH(matmul_case, probe_logits_input_gradient, Shape{5120, 50}, Shape{128, 50}, false, true);
JARI_BENCH(matmul_case, probe_logits_weight_gradient, Shape{5120, 128}, Shape{5120, 50}, true, false);
JARI_BENCH(matmul_case, square_512, Shape{512, 512}, Shape{512, 512}, false, false);
JARI_BENCH(attention_case, probe_forward, false, 256, 1, 20, 128, false);
JARI_BENCH(attention_case, probe_backward, true, 256, 1, 20, 128, false);
JARI_BENCH(language_matmul, f32, Products::exact, false, false);
JARI_BENCH(language_matmul, f32_input_gradient, Products::exact, false, true);
JARI_BENCH(language_matmul, f32_weight_gradient, Products::exact, true, false);
JARI_BENCH(language_mlp, f32, Products::exact, false);
JARI_BENCH(language_mlp, f32_gradient, Products::exact, true);
JARI_BENCH(language_attention, f32, Products::exact, false);
JARI_BENCH(language_attention, f32_gradient, Products::exact, true);
JARI_BENCH(language_loss, f32, Products::exact);
JARI_BENCH(language_matmul, bf16, Products::bf16, false, false);
JARI_BENCH(language_matmul, bf16_input_gradient, Products::bf16, false, true);
JARI_BENCH(language_matmul, bf16_weight_gradient, Products::bf16, true, false);
JARI_BENCH(language_mlp, bf16, Products::bf16, false);
JARI_BENCH(language_mlp, bf16_gradient, Products::bf16, true);
JARI_BENCH(language_attention, bf16, Products::bf16, false);
JARI_BENCH(language_attention, bf16_gradient, Products::bf16, true);
JARI_BENCH(language_loss, bf16, Products::bf16);
JARI_BENCH(other_case, cross_entropy, op_cross_entropy, {f32({5120, 50}), i32({5120})}, CrossEntropyAttributes{});
JARI_BENCH(other_case, cross_entropy_gradient, op_cross_entropy_gradient, {f32({5120, 50}), i32({5120}), f32({})},
           CrossEntropyAttributes{});
JARI_BENCH(other_case, layer_norm, op_layer_norm, {f32({5120, 128}), f32({128}), f32({128})}, LayerNormAttributes{});
JARI_BENCH(other_case, layer_norm_gradient, op_layer_norm_gradient, {f32({5120, 128}), f32({128}), f32({5120, 128})},
           LayerNormAttributes{});
JARI_BENCH(other_case, dropout, op_dropout, {f32({5120, 128}), f32({}), i32({2}), i32({})}, DropoutAttributes{1});
JARI_BENCH(other_case, adam, op_adam_update,
           {f32({62000}), f32({62000}), f32({62000}), f32({62000}), f32({}), f32({}), i32({})}, AdamAttributes{});

}  // namespace

BENCHMARK_MAIN();
