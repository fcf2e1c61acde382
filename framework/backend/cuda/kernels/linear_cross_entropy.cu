// Cross-entropy of x weight^T, rows some at a time: the library makes a chunk's logits, a kernel turns each row of them
// into its gradient, in place, and the library takes that to the gradients of x and, chunk after chunk, the weight.

#include "framework/ops/linear_cross_entropy.hpp"

#include "framework/backend/cuda/row_chunks.hpp"
#include "framework/backend/cuda/row_loss.hpp"

namespace jari {

namespace {

using namespace cuda;

constexpr std::int64_t kChunkElements = std::int64_t{1} << 25;  // of logits at a time

// What the rows' gradients are multiplied with: 1 / number of targets that count. One block.
template <class T>
__global__ void inverse_count(Operand<const std::int32_t> targets, Operand<T> out, std::int64_t rows) {
  JARI_SHARED(std::int64_t, counts, 32);
  const std::int64_t count = count_targets(targets.of_trial(), rows, counts);
  if (threadIdx.x == 0) *out.of_trial() = T(1) / static_cast<T>(count);
}

// A warp a row, or a block where there are many classes: from its logits to their gradient, in place, and its loss.
// `first` is the chunk's first row.
template <class Threads, class T>
__global__ void losses_and_gradients(Operand<T> logits, Operand<const std::int32_t> targets, Operand<const T> factor,
                                     Operand<T> losses, std::int64_t first, std::int64_t rows, std::int64_t classes) {
  JARI_SHARED(T, parts, 32);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * Threads::kRows + Threads::row();
  if (row >= rows) return;
  const std::int32_t target = targets.of_trial()[first + row];
  T* const logit = logits.of_trial() + row * classes;
  T loss = loss_without_logits<T>(target);
  if (target < 0 || target >= classes) {
    fill_row<Threads>(logit, classes, loss);
  } else {
    const LogSum<T> log_sum = log_sum_of<Threads>(logit, classes, parts);
    const T wanted = logit[target];
    Threads::wait();  // until all have read it
    loss = log_sum.logarithm_of_sum() - wanted;
    row_loss_gradient<Threads>(logit, classes, target, log_sum, *factor.of_trial(), logit);
  }
  if (Threads::thread() == 0) losses.of_trial()[first + row] = loss;
}

template <class T>
class LinearCrossEntropyKernel final : public DeviceKernel {
 public:
  explicit LinearCrossEntropyKernel(const KernelRequest& request)
      : products_(request.products),
        width_(request.inputs[0].shape[-1]),
        classes_(request.inputs[1].shape[0]),
        chunks_(request.inputs[2].shape.size(), classes_, kChunkElements),
        logits_(chunks_, [&](std::int64_t rows, bool) { return logits_of(rows); }),
        by_x_(chunks_, [&](std::int64_t rows, bool) { return product(rows, width_, classes_); }),
        by_weight_(chunks_, [&](std::int64_t rows, bool later) { return by_weight_of(rows, later); }) {}

  std::size_t workspace_bytes(int trials) const override {
    return static_cast<std::size_t>(trials) * trial_bytes() + most_workspace(trials, {&logits_, &by_x_, &by_weight_});
  }

  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override {
    const Call call(arguments, queue);
    const auto targets = call.input<std::int32_t>(2);
    const Operand<T> losses = call.workspace<T>(logit_bytes(), trial_bytes());
    const Operand<T> factor = call.workspace<T>(logit_bytes() + loss_bytes(), trial_bytes());
    std::byte* const workspace = static_cast<std::byte*>(arguments.workspace);
    const Run run{workspace + static_cast<std::size_t>(arguments.trials) * trial_bytes(), arguments.trials, queue};
    call.launch(inverse_count<T>, 1, kTotalThreads, 0, targets, factor, chunks_.all);
    for (std::int64_t i = 0; i < chunks_.count; ++i) {
      const std::int64_t at = chunks_.first(i) * width_;
      const DeviceOperand x = from_element(arguments.inputs[0], at, sizeof(T)), weight = arguments.inputs[1];
      const DeviceOperand logits = {workspace, trial_bytes()};
      logits_.run(i, x, weight, logits, run);
      launch_rows(call, i, typed<T>(logits), targets, Operand<const T>{factor.data, factor.stride}, losses);
      by_x_.run(i, logits, weight, from_element(arguments.outputs[1], at, sizeof(T)), run);
      by_weight_.run(i, logits, x, arguments.outputs[2], run);
    }
    call.launch(mean_of_losses<T>, 1, kTotalThreads, 0, Operand<const T>{losses.data, losses.stride}, targets,
                call.output<T>(0), chunks_.all);
  }

 private:
  void launch_rows(const Call& call, std::int64_t chunk, Operand<T> logits, Operand<const std::int32_t> targets,
                   Operand<const T> factor, Operand<T> losses) const {
    const std::int64_t rows = chunks_.rows(chunk);
    const bool is_short = classes_ <= kLongestWarpRow;
    call.launch(is_short ? losses_and_gradients<WarpRow, T> : losses_and_gradients<BlockRow, T>,
                is_short ? blocks_of(rows, WarpRow::kRows) : rows, kRowThreads, 0, logits, targets, factor, losses,
                chunks_.first(chunk), rows, classes_);
  }

  // [m, k] x [k, n]
  ProductShape product(std::int64_t m, std::int64_t n, std::int64_t k) const {
    return {
        .dtype = sizeof(T) == sizeof(float) ? DType::f32 : DType::f64, .products = products_, .m = m, .n = n, .k = k};
  }
  ProductShape logits_of(std::int64_t rows) const {
    ProductShape shape = product(rows, classes_, width_);
    shape.transpose_right = true;
    return shape;
  }
  ProductShape by_weight_of(std::int64_t rows, bool later) const {
    ProductShape shape = product(classes_, width_, rows);
    shape.transpose_left = true;
    shape.accumulate = later;
    return shape;
  }

  // A trial's workspace: a chunk's logits, all rows' losses, the factor.
  std::size_t logit_bytes() const { return aligned(static_cast<std::size_t>(chunks_.each * classes_) * sizeof(T)); }
  std::size_t loss_bytes() const { return aligned(static_cast<std::size_t>(chunks_.all) * sizeof(T)); }
  std::size_t trial_bytes() const { return logit_bytes() + loss_bytes() + aligned(sizeof(T)); }

  Products products_;
  std::int64_t width_, classes_;
  RowChunks chunks_;
  ChunkProducts logits_, by_x_, by_weight_;
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_linear_cross_entropy(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<DeviceKernel> {
    return std::make_unique<LinearCrossEntropyKernel<T>>(request);
  });
}

}  // namespace jari
