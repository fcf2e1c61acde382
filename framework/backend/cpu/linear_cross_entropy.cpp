#include "framework/ops/linear_cross_entropy.hpp"

#include <cmath>
#include <limits>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/rows.hpp"
#include "framework/backend/cpu/scratch.hpp"
#include "framework/backend/cpu/small_product.hpp"

namespace jari {

namespace {

using namespace cpu;

constexpr std::int64_t kTileRows = 72;    // whose logits stay in a core's cache
constexpr std::int64_t kGroupRows = 512;  // that share one sum of the weight's gradient

// How the work is cut: by the problem alone. A group of rows is one core's, tile after tile; the groups' sums of the
// weight's gradient are added in order.
struct Plan {
  explicit Plan(const KernelRequest& request)
      : rows(request.inputs[2].shape.size()),
        width(request.inputs[0].shape[-1]),
        classes(request.inputs[1].shape[0]),
        padded(blocks_of(classes, 32) * 32),
        groups(std::clamp<std::int64_t>(rows / kGroupRows, 1, 64)),
        group_rows(blocks_of(rows, groups)) {}

  std::int64_t rows, width, classes;
  std::int64_t padded;  // classes, up to whole pairs of vectors
  std::int64_t groups, group_rows;

  // The workspace, in elements: the weight turned, the groups' sums of its gradient, their losses.
  std::int64_t turned_size() const { return width * padded; }
  std::int64_t sums_size() const { return groups * classes * width; }
};

template <class T>
struct Operands {
  const T *x, *weight, *turned;
  const std::int32_t* targets;
  T factor;  // of the rows' gradients: 1 / number of targets
};

// [classes, width] -> [width, padded], with zeros behind the last class.
template <class T>
void turn(const Workers& workers, const Plan& plan, const T* weight, T* turned) {
  for_blocks(workers, plan.padded, 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = 0; p < plan.width; ++p) {
      T* const row = turned + p * plan.padded;
      for (std::int64_t j = begin; j < std::min(end, plan.classes); ++j) row[j] = weight[j * plan.width + p];
      for (std::int64_t j = std::max(begin, plan.classes); j < end; ++j) row[j] = 0;
    }
  });
}

// From a row's logits to their gradient, in place; returns its loss.
template <class T>
T row_loss(const Plan& plan, T* logits, std::int32_t target, T factor) {
  if (target < 0 || target >= plan.classes) {
    const bool is_wrong = target >= 0;  // no such class: let it show
    std::fill_n(logits, plan.padded, is_wrong ? std::numeric_limits<T>::quiet_NaN() : T{0});
    return is_wrong ? std::numeric_limits<T>::quiet_NaN() : T{0};
  }
  const T largest = largest_of(logits, plan.classes), wanted = logits[target];
  const T sum = exponentials(logits, plan.classes, largest, logits);
  scale_row(logits, plan.classes, factor / sum);
  logits[target] -= factor;
  return largest + std::log(sum) - wanted;
}

// Rows [begin, begin + rows): their loss, the gradient of x, and what they add to the sum of the weight's.
template <class T>
double tile_loss(const Plan& plan, const Operands<T>& operands, std::int64_t begin, std::int64_t rows, bool is_first,
                 T* logits, T* x_gradient, T* weight_gradient) {
  const std::int64_t width = plan.width;
  const T* const x = operands.x + begin * width;
  multiply<T>({x, width, 1}, operands.turned, plan.padded, logits, plan.padded, rows, plan.padded, width);
  double loss = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    loss += static_cast<double>(row_loss(plan, logits + i * plan.padded, operands.targets[begin + i], operands.factor));
  multiply<T>({logits, plan.padded, 1}, operands.weight, width, x_gradient + begin * width, width, rows, width,
              plan.classes);
  multiply<T>({logits, 1, plan.padded}, x, width, weight_gradient, width, plan.classes, width, rows, T{1}, !is_first);
  return loss;
}

template <class T>
void run(const KernelArguments& arguments, const Plan& plan) {
  const Workers& workers = *arguments.workers;
  T* const turned = static_cast<T*>(arguments.workspace);
  T *const sums = turned + plan.turned_size(), *const x_gradient = arguments.output<T>(1);
  auto* const losses = reinterpret_cast<double*>(sums + blocks_of(plan.sums_size(), 8) * 8);
  const auto* const targets = arguments.input<std::int32_t>(2);
  const std::int64_t counted = std::max<std::int64_t>(
      1, std::count_if(targets, targets + plan.rows, [](std::int32_t id) { return id >= 0; }));
  const Operands<T> operands = {arguments.input<T>(0), arguments.input<T>(1), turned, targets,
                                1 / static_cast<T>(counted)};
  turn(workers, plan, operands.weight, turned);
  const std::int64_t weights = plan.classes * plan.width;
  workers.for_each(plan.groups, [&](std::int64_t group, int) {
    T* const logits = thread_scratch<T>(kTileRows * plan.padded);
    const std::int64_t first = group * plan.group_rows, end = std::min(plan.rows, first + plan.group_rows);
    losses[group] = 0;
    if (first >= end) std::fill_n(sums + group * weights, weights, T{0});
    for (std::int64_t row = first; row < end; row += kTileRows)
      losses[group] += tile_loss(plan, operands, row, std::min(kTileRows, end - row), row == first, logits, x_gradient,
                                 sums + group * weights);
  });
  double loss = 0;
  for (std::int64_t group = 0; group < plan.groups; ++group) loss += losses[group];
  *arguments.output<T>(0) = static_cast<T>(loss / static_cast<double>(counted));
  T* const weight_gradient = arguments.output<T>(2);
  for_blocks(workers, weights, kBlock, [&](std::int64_t begin, std::int64_t end) {
    std::copy(sums + begin, sums + end, weight_gradient + begin);
    for (std::int64_t group = 1; group < plan.groups; ++group) {
      const T* const sum = sums + group * weights;
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) weight_gradient[i] += sum[i];
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_linear_cross_entropy(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const Plan plan(request);
    const std::int64_t elements = plan.turned_size() + blocks_of(plan.sums_size(), 8) * 8;
    return make_kernel([plan](const KernelArguments& arguments) { run<T>(arguments, plan); },
                       static_cast<std::size_t>(elements) * sizeof(T) +
                           static_cast<std::size_t>(plan.groups) * sizeof(double));
  });
}

}  // namespace jari
