// The two layers of a transformer's MLP and their gradient: the library's products, some rows at a time so that what
// stands between them takes bounded memory, and one pointwise kernel between the layers.

#include "framework/ops/gelu_mlp.hpp"

#include <algorithm>

#include "framework/backend/cuda/column_sums.hpp"
#include "framework/backend/cuda/pointwise.hpp"
#include "framework/backend/cuda/real_math.hpp"
#include "framework/backend/cuda/row_chunks.hpp"

namespace jari {

namespace {

using namespace cuda;

constexpr std::int64_t kChunkElements = std::int64_t{1} << 25;  // between the layers, at a time
constexpr std::int64_t kBiasRows = 256;                         // that share one sum of the bias's gradient

struct Sizes {
  explicit Sizes(const KernelRequest& request)
      : dtype(request.inputs[0].dtype),
        products(request.products),
        width(request.inputs[0].shape[-1]),
        hidden(request.inputs[1].shape[1]),
        out(request.inputs[2].shape[1]),
        rows(width == 0 ? 0 : request.inputs[0].shape.size() / width),
        biased(request.attributes.as<GeluMlpAttributes>().biased) {}

  // [m, k] x [k, n]
  ProductShape product(std::int64_t m, std::int64_t n, std::int64_t k) const {
    return {.dtype = dtype, .products = products, .m = m, .n = n, .k = k};
  }

  DType dtype;
  Products products;
  std::int64_t width, hidden, out, rows;
  bool biased;
};

// Adds the bias (null: none) to what stands between the layers, and takes gelu of it.
template <class T>
struct BiasAndGelu {
  Operand<const T> bias;
  Operand<T> saved, active;
  std::int64_t columns;
  __device__ void operator()(std::int64_t i) const {
    T& at = saved.of_trial()[i];
    if (bias.data) at += bias.of_trial()[i % columns];
    active.of_trial()[i] = gelu(at, gelu_tanh(at));
  }
};

template <class T>
struct GeluAndSlope {
  Operand<const T> saved;
  Operand<T> active;
  Operand<T> by_hidden;  // from the gradient of gelu's result to that of what it is taken of
  __device__ void operator()(std::int64_t i) const {
    const T at = saved.of_trial()[i], tanh = gelu_tanh(at);
    active.of_trial()[i] = gelu(at, tanh);
    by_hidden.of_trial()[i] *= gelu_slope(at, tanh);
  }
};

template <class T>
class GeluMlpKernel final : public DeviceKernel {
 public:
  explicit GeluMlpKernel(const KernelRequest& request)
      : sizes_(request),
        chunks_(sizes_.rows, sizes_.hidden, kChunkElements),
        inner_(chunks_, [&](std::int64_t rows, bool) { return sizes_.product(rows, sizes_.hidden, sizes_.width); }),
        outer_(chunks_, [&](std::int64_t rows, bool) { return sizes_.product(rows, sizes_.out, sizes_.hidden); }) {}

  std::size_t workspace_bytes(int trials) const override {
    return static_cast<std::size_t>(trials) * active_bytes() + most_workspace(trials, {&inner_, &outer_});
  }

  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override {
    const Call call(arguments, queue);
    const DeviceOperand active = {arguments.workspace, active_bytes()};
    void* const library =
        static_cast<std::byte*>(arguments.workspace) + static_cast<std::size_t>(arguments.trials) * active_bytes();
    const Run run{library, arguments.trials, queue};
    for (std::int64_t i = 0; i < chunks_.count; ++i) {
      const std::int64_t row = chunks_.first(i);
      const DeviceOperand x = from_element(arguments.inputs[0], row * sizes_.width, sizeof(T));
      const DeviceOperand saved = from_element(arguments.outputs[1], row * sizes_.hidden, sizeof(T));
      const DeviceOperand result = from_element(arguments.outputs[0], row * sizes_.out, sizeof(T));
      inner_.run(i, x, arguments.inputs[1], saved, run);
      launch_elements(call, chunks_.rows(i) * sizes_.hidden,
                      BiasAndGelu<T>{sizes_.biased ? call.input<T>(3) : Operand<const T>(), typed<T>(saved),
                                     typed<T>(active), sizes_.hidden});
      outer_.run(i, active, arguments.inputs[2], result, run);
    }
  }

 private:
  std::size_t active_bytes() const {
    return aligned(static_cast<std::size_t>(chunks_.each * sizes_.hidden) * sizeof(T));
  }

  Sizes sizes_;
  RowChunks chunks_;
  ChunkProducts inner_, outer_;
};

// Of the weights, the chunks' gradients are added up in order; of the bias, sums over kBiasRows rows are kept and added
// at the end.
template <class T>
class GeluMlpGradientKernel final : public DeviceKernel {
 public:
  explicit GeluMlpGradientKernel(const KernelRequest& request)
      : sizes_(request),
        chunks_(sizes_.rows, sizes_.hidden, kChunkElements, kBiasRows),
        by_gelu_(chunks_, [&](std::int64_t rows, bool) { return transposed_right(rows, sizes_.hidden, sizes_.out); }),
        by_x_(chunks_, [&](std::int64_t rows, bool) { return transposed_right(rows, sizes_.width, sizes_.hidden); }),
        by_inner_(chunks_,
                  [&](std::int64_t rows, bool later) { return sum(sizes_.width, sizes_.hidden, rows, later); }),
        by_outer_(chunks_, [&](std::int64_t rows, bool later) { return sum(sizes_.hidden, sizes_.out, rows, later); }) {
  }

  std::size_t workspace_bytes(int trials) const override {
    return static_cast<std::size_t>(trials) * trial_bytes() +
           most_workspace(trials, {&by_gelu_, &by_x_, &by_inner_, &by_outer_});
  }

  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override {
    const Call call(arguments, queue);
    std::byte* const workspace = static_cast<std::byte*>(arguments.workspace);
    const Run run{workspace + static_cast<std::size_t>(arguments.trials) * trial_bytes(), arguments.trials, queue};
    for (std::int64_t i = 0; i < chunks_.count; ++i) launch_chunk(i, arguments, call, run);
    if (!sizes_.biased) return;
    const std::int64_t sums = blocks_of(sizes_.rows, kBiasRows);
    launch_sum_columns(call, call.workspace<T>(2 * hidden_bytes(), trial_bytes()), call.output<T>(3), sums,
                       sizes_.hidden);
  }

 private:
  void launch_chunk(std::int64_t i, const DeviceArguments& arguments, const Call& call, const Run& run) const {
    const DeviceOperand* const inputs = arguments.inputs;
    const std::int64_t row = chunks_.first(i), rows = chunks_.rows(i);
    const DeviceOperand x = from_element(inputs[0], row * sizes_.width, sizeof(T));
    const DeviceOperand saved = from_element(inputs[3], row * sizes_.hidden, sizeof(T));
    const DeviceOperand upstream = from_element(inputs[4], row * sizes_.out, sizeof(T));
    const DeviceOperand active = {arguments.workspace, trial_bytes()};
    const DeviceOperand by_hidden = {static_cast<std::byte*>(arguments.workspace) + hidden_bytes(), trial_bytes()};
    by_gelu_.run(i, upstream, inputs[2], by_hidden, run);
    launch_elements(call, rows * sizes_.hidden,
                    GeluAndSlope<T>{typed<const T>(saved), typed<T>(active), typed<T>(by_hidden)});
    by_x_.run(i, by_hidden, inputs[1], from_element(arguments.outputs[0], row * sizes_.width, sizeof(T)), run);
    by_inner_.run(i, x, by_hidden, arguments.outputs[1], run);
    by_outer_.run(i, active, upstream, arguments.outputs[2], run);
    if (!sizes_.biased || rows == 0) return;
    const std::size_t sums_at =
        2 * hidden_bytes() + static_cast<std::size_t>(row / kBiasRows * sizes_.hidden) * sizeof(T);
    launch_sum_columns(call, typed<T>(by_hidden), call.workspace<T>(sums_at, trial_bytes()), rows, sizes_.hidden,
                       kBiasRows);
  }

  // [m, k] x [n, k] transposed
  ProductShape transposed_right(std::int64_t m, std::int64_t n, std::int64_t k) const {
    ProductShape shape = sizes_.product(m, n, k);
    shape.transpose_right = true;
    return shape;
  }
  // [rows, m] transposed x [rows, n], to be added to the earlier chunks'.
  ProductShape sum(std::int64_t m, std::int64_t n, std::int64_t rows, bool later) const {
    ProductShape shape = sizes_.product(m, n, rows);
    shape.transpose_left = true;
    shape.accumulate = later;
    return shape;
  }

  // Of one chunk's numbers between the layers.
  std::size_t hidden_bytes() const {
    return aligned(static_cast<std::size_t>(chunks_.each * sizes_.hidden) * sizeof(T));
  }
  // A trial's workspace: gelu's results, their gradients, the sums of the bias's.
  std::size_t trial_bytes() const {
    const std::int64_t sums = sizes_.biased ? blocks_of(sizes_.rows, kBiasRows) * sizes_.hidden : 0;
    return 2 * hidden_bytes() + aligned(static_cast<std::size_t>(sums) * sizeof(T));
  }

  Sizes sizes_;
  RowChunks chunks_;
  ChunkProducts by_gelu_, by_x_, by_inner_, by_outer_;
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_gelu_mlp(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<DeviceKernel> {
    return std::make_unique<GeluMlpKernel<T>>(request);
  });
}

std::unique_ptr<DeviceKernel> make_cuda_gelu_mlp_gradient(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<DeviceKernel> {
    return std::make_unique<GeluMlpGradientKernel<T>>(request);
  });
}

}  // namespace jari
