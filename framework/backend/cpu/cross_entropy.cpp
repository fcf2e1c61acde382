#include "framework/ops/cross_entropy.hpp"

#include <limits>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/rows.hpp"

namespace jari {

namespace {

using namespace cpu;

struct Rows {
  explicit Rows(const KernelRequest& request)
      : classes(request.inputs[0].shape[-1]),
        count(request.inputs[1].shape.size()),
        by_position(request.attributes.as<CrossEntropyAttributes>().by_position) {}

  std::int64_t classes, count;
  bool by_position;
  std::int64_t block() const { return std::max<std::int64_t>(1, kBlock / std::max<std::int64_t>(1, classes)); }
};

template <class T>
T loss_of(const T* logits, std::int64_t classes, std::int32_t target) {
  if (target < 0) return 0;
  if (target >= classes) return std::numeric_limits<T>::quiet_NaN();  // no such class: let it show
  const T largest = largest_of(logits, classes);
  const T sum = sum_of<T>(classes, [&](std::int64_t i) { return exponential(logits[i] - largest); });
  return largest + std::log(std::max(sum, static_cast<T>(kLowestSum))) - logits[target];
}

template <class T>
void losses(const KernelArguments& arguments, const Rows& rows) {
  const T* logits = arguments.input<T>(0);
  const auto* targets = arguments.input<std::int32_t>(1);
  T* out = arguments.output<T>(0);
  for_blocks(*arguments.workers, rows.count, rows.block(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = loss_of(logits + i * rows.classes, rows.classes, targets[i]);
  });
}

std::int64_t count_of(const std::int32_t* targets, std::int64_t count) {
  return std::max<std::int64_t>(1, std::count_if(targets, targets + count, [](std::int32_t id) { return id >= 0; }));
}

template <class T>
void mean_loss(const KernelArguments& arguments, const Rows& rows) {
  const T* logits = arguments.input<T>(0);
  const auto* targets = arguments.input<std::int32_t>(1);
  auto* partials = static_cast<double*>(arguments.workspace);
  const std::int64_t block = rows.block(), blocks = blocks_of(rows.count, block);
  arguments.workers->for_each(blocks, [&](std::int64_t i, int) {
    partials[i] = 0;
    for (std::int64_t row = i * block; row < std::min(rows.count, (i + 1) * block); ++row) {
      partials[i] += static_cast<double>(loss_of(logits + row * rows.classes, rows.classes, targets[row]));
    }
  });
  double sum = 0;
  for (std::int64_t i = 0; i < blocks; ++i) sum += partials[i];
  *arguments.output<T>(0) = static_cast<T>(sum / static_cast<double>(count_of(targets, rows.count)));
}

// (softmax - 1 at the target) factor. `out` may be `logits`.
template <class T>
void row_gradient(const T* logits, std::int64_t classes, std::int32_t target, T factor, T* out) {
  if (target < 0 || target >= classes) {
    std::fill_n(out, classes, target < 0 ? T{0} : std::numeric_limits<T>::quiet_NaN());
    return;
  }
  const T sum = exponentials(logits, classes, largest_of(logits, classes), out);
  scale_row(out, classes, factor / sum);
  out[target] -= factor;
}

template <class T>
void gradient(const KernelArguments& arguments, const Rows& rows) {
  const T *logits = arguments.input<T>(0), *upstream = arguments.input<T>(2);
  const auto* targets = arguments.input<std::int32_t>(1);
  T* out = arguments.output<T>(0);
  const T shared = rows.by_position ? T{0} : *upstream / static_cast<T>(count_of(targets, rows.count));
  for_blocks(*arguments.workers, rows.count, rows.block(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T factor = rows.by_position ? upstream[i] : shared;
      row_gradient(logits + i * rows.classes, rows.classes, targets[i], factor, out + i * rows.classes);
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_cross_entropy(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const Rows rows(request);
    if (rows.by_position) return make_kernel([rows](const KernelArguments& arguments) { losses<T>(arguments, rows); });
    const std::int64_t blocks = blocks_of(rows.count, rows.block());
    return make_kernel([rows](const KernelArguments& arguments) { mean_loss<T>(arguments, rows); },
                       static_cast<std::size_t>(blocks) * sizeof(double));
  });
}

std::unique_ptr<Kernel> make_cpu_cross_entropy_gradient(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([rows = Rows(request)](const KernelArguments& arguments) { gradient<T>(arguments, rows); });
  });
}

}  // namespace jari
