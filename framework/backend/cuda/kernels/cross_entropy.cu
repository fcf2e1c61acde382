// Cross-entropy and its gradient: a warp a row, or a block where there are many classes.

#include "framework/ops/cross_entropy.hpp"

#include "framework/backend/cuda/row_loss.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class Threads, class T>
__global__ void row_losses(Operand<const T> logits, Operand<const std::int32_t> targets, Operand<T> out,
                           std::int64_t rows, std::int64_t classes) {
  JARI_SHARED(T, parts, 32);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * Threads::kRows + Threads::row();
  if (row >= rows) return;
  const std::int32_t target = targets.of_trial()[row];
  const T* const from = logits.of_trial() + row * classes;
  T loss = loss_without_logits<T>(target);
  if (target >= 0 && target < classes)
    loss = log_sum_of<Threads>(from, classes, parts).logarithm_of_sum() - from[target];
  if (Threads::thread() == 0) out.of_trial()[row] = loss;
}

// What all rows' gradients are multiplied with: upstream / number of targets that count. One block.
template <class T>
__global__ void shared_factor(Operand<const T> upstream, Operand<const std::int32_t> targets, Operand<T> out,
                              std::int64_t rows) {
  JARI_SHARED(std::int64_t, counts, 32);
  const std::int64_t count = count_targets(targets.of_trial(), rows, counts);
  if (threadIdx.x == 0) *out.of_trial() = *upstream.of_trial() / static_cast<T>(count);
}

// `factors`: by row, or one for all. The result may lie over the logits: a thread reads an element before it writes it.
template <class Threads, class T>
__global__ void row_gradients(Operand<const T> logits, Operand<const std::int32_t> targets, Operand<const T> factors,
                              Operand<T> out, std::int64_t rows, std::int64_t classes, bool by_row) {
  JARI_SHARED(T, parts, 32);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * Threads::kRows + Threads::row();
  if (row >= rows) return;
  const std::int32_t target = targets.of_trial()[row];
  const T* const from = logits.of_trial() + row * classes;
  T* const to = out.of_trial() + row * classes;
  if (target < 0 || target >= classes) {
    fill_row<Threads>(to, classes, loss_without_logits<T>(target));
    return;
  }
  const LogSum<T> log_sum = log_sum_of<Threads>(from, classes, parts);
  row_loss_gradient<Threads>(from, classes, target, log_sum, factors.of_trial()[by_row ? row : 0], to);
}

struct Rows {
  explicit Rows(const KernelRequest& request)
      : classes(request.inputs[0].shape[-1]),
        count(request.inputs[1].shape.size()),
        by_position(request.attributes.as<CrossEntropyAttributes>().by_position),
        is_short(classes <= kLongestWarpRow),
        blocks(is_short ? blocks_of(count, WarpRow::kRows) : count) {}

  std::int64_t classes, count;
  bool by_position, is_short;
  std::int64_t blocks;
};

template <class T>
void launch_losses(const Call& call, const Rows& rows, Operand<T> losses) {
  call.launch(rows.is_short ? row_losses<WarpRow, T> : row_losses<BlockRow, T>, rows.blocks, kRowThreads, 0,
              call.input<T>(0), call.input<std::int32_t>(1), losses, rows.count, rows.classes);
}

template <class T>
void launch_gradients(const Call& call, const Rows& rows, Operand<const T> factors) {
  call.launch(rows.is_short ? row_gradients<WarpRow, T> : row_gradients<BlockRow, T>, rows.blocks, kRowThreads, 0,
              call.input<T>(0), call.input<std::int32_t>(1), factors, call.output<T>(0), rows.count, rows.classes,
              rows.by_position);
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_cross_entropy(const KernelRequest& request) {
  const Rows rows(request);
  return for_real(request, request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<DeviceKernel> {
    if (rows.by_position)
      return make_kernel([=](const Call& call) { launch_losses<T>(call, rows, call.output<T>(0)); });
    const std::size_t bytes = aligned(static_cast<std::size_t>(rows.count) * sizeof(T));
    const auto launch = [=](const Call& call) {
      const Operand<T> losses = call.workspace<T>(0, bytes);
      launch_losses<T>(call, rows, losses);
      call.launch(mean_of_losses<T>, 1, kTotalThreads, 0, Operand<const T>{losses.data, losses.stride},
                  call.input<std::int32_t>(1), call.output<T>(0), rows.count);
    };
    return make_kernel(launch, bytes);
  });
}

std::unique_ptr<DeviceKernel> make_cuda_cross_entropy_gradient(const KernelRequest& request) {
  const Rows rows(request);
  return for_real(request, request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<DeviceKernel> {
    if (rows.by_position)
      return make_kernel([=](const Call& call) { launch_gradients<T>(call, rows, call.input<T>(2)); });
    const std::size_t bytes = aligned(sizeof(T));
    const auto launch = [=](const Call& call) {
      const Operand<T> factor = call.workspace<T>(0, bytes);
      call.launch(shared_factor<T>, 1, kTotalThreads, 0, call.input<T>(2), call.input<std::int32_t>(1), factor,
                  rows.count);
      launch_gradients<T>(call, rows, Operand<const T>{factor.data, factor.stride});
    };
    return make_kernel(launch, bytes);
  });
}

}  // namespace jari
