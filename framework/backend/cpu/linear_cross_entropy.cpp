#include "framework/ops/linear_cross_entropy.hpp"

#include <cmath>
#include <limits>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/products.hpp"
#include "framework/backend/cpu/rows.hpp"
#include "framework/backend/cpu/scratch.hpp"

namespace jari {

namespace {

using namespace cpu;

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
  std::int64_t padded;  // classes, up to whole pairs of vectors: from one row's logits to the next one's
  std::int64_t groups, group_rows;

  std::int64_t weight_size() const { return classes * width; }
};

template <class Products>
struct Operands {
  using T = typename Products::Number;
  const T* x;
  typename Products::Right to_logits, from_logits;  // the weight transposed, and as it is
  const std::int32_t* targets;
  T factor;  // of the rows' gradients: 1 / number of targets
};

template <class T>
struct RowLoss {
  T loss, scale;
};

// From a row's logits to their gradient, in place, but for the scale, by which it is cheaper to multiply what comes of
// it: a row of x has fewer numbers.
template <class T>
RowLoss<T> row_loss(const Plan& plan, T* logits, std::int32_t target, T factor) {
  if (target < 0 || target >= plan.classes) {
    const bool is_wrong = target >= 0;  // no such class: let it show
    const T shown = is_wrong ? std::numeric_limits<T>::quiet_NaN() : T{0};
    std::fill_n(logits, plan.classes, shown);
    return {shown, shown};
  }
  const T largest = largest_of(logits, plan.classes), wanted = logits[target];
  const T sum = exponentials(logits, plan.classes, largest, logits);
  logits[target] -= sum;
  return {largest + std::log(sum) - wanted, factor / sum};
}

// to [count, width] = the rows, each times its scale.
template <class T>
void scale_rows(const T* rows, const T* scales, std::int64_t count, std::int64_t width, T* to) {
  for (std::int64_t i = 0; i < count; ++i) {
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) to[i * width + j] = rows[i * width + j] * scales[i];
  }
}

// Rows [begin, begin + rows): their loss, the gradient of x, and what they add to the sum of the weight's.
template <class Products>
double tile_loss(const Plan& plan, const Operands<Products>& of, std::int64_t begin, std::int64_t rows, bool is_first,
                 typename Products::Number* x_gradient, typename Products::Number* weight_gradient) {
  using T = typename Products::Number;
  constexpr std::int64_t kTileRows = Products::kWideTileRows;
  const std::int64_t width = plan.width, classes = plan.classes;
  const std::int64_t left_bytes =
      std::max({Products::left_bytes(kTileRows, std::max(width, classes)), Products::left_bytes(classes, kTileRows)});
  const std::int64_t right_bytes = Products::right_bytes(kTileRows, width);
  Pieces scratch(thread_scratch(static_cast<std::size_t>(kTileRows * (plan.padded + width + 1)) * sizeof(T) + 256 +
                                static_cast<std::size_t>(left_bytes + right_bytes)));
  T *const logits = scratch.numbers<T>(kTileRows * plan.padded), *const scaled = scratch.numbers<T>(kTileRows * width);
  T* const scales = scratch.numbers<T>(kTileRows);
  void *const left = scratch.bytes(left_bytes), *const right = scratch.bytes(right_bytes);
  const T* const x = of.x + begin * width;
  Products::multiply({x, width, 1}, of.to_logits, logits, plan.padded, rows,
                     std::min(plan.padded, of.to_logits.columns), width, false, left);
  double loss = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const RowLoss<T> row = row_loss(plan, logits + i * plan.padded, of.targets[begin + i], of.factor);
    loss += static_cast<double>(row.loss);
    scales[i] = row.scale;
  }
  T* const own_gradient = x_gradient + begin * width;
  Products::multiply({logits, plan.padded, 1}, of.from_logits, own_gradient, width, rows, width, classes, false, left);
  scale_rows(own_gradient, scales, rows, width, own_gradient);
  scale_rows(x, scales, rows, width, scaled);
  Products::multiply({logits, 1, plan.padded}, Products::right({scaled, width, 1}, rows, width, right), weight_gradient,
                     width, classes, width, rows, !is_first, left);
  return loss;
}

// The workspace holds the groups' losses, their sums of the weight's gradient, and the weight made ready.
template <class Products>
void run(const KernelArguments& arguments, const Plan& plan) {
  using T = typename Products::Number;
  const Workers& workers = *arguments.workers;
  Pieces workspace(arguments.workspace);
  double* const losses = workspace.numbers<double>(plan.groups);
  T* const sums = workspace.numbers<T>(plan.groups * plan.weight_size());
  const T* const weight = arguments.input<T>(1);
  void *const to_memory = workspace.bytes(Products::right_bytes(plan.width, plan.classes)),
              *const from_memory = workspace.bytes(Products::right_bytes(plan.classes, plan.width));
  typename Products::Right to_logits, from_logits;
  workers.for_each(2, [&](std::int64_t which, int) {
    if (which == 0) to_logits = Products::right({weight, 1, plan.width}, plan.width, plan.classes, to_memory);
    if (which == 1) from_logits = Products::right({weight, plan.width, 1}, plan.classes, plan.width, from_memory);
  });
  const auto* const targets = arguments.input<std::int32_t>(2);
  const std::int64_t counted =
      std::max<std::int64_t>(1, std::count_if(targets, targets + plan.rows, [](std::int32_t id) { return id >= 0; }));
  const Operands<Products> of = {arguments.input<T>(0), to_logits, from_logits, targets, 1 / static_cast<T>(counted)};
  workers.for_each(plan.groups, [&](std::int64_t group, int) {
    T* const sum = sums + group * plan.weight_size();
    const std::int64_t first = group * plan.group_rows, end = std::min(plan.rows, first + plan.group_rows);
    losses[group] = 0;
    if (first >= end) std::fill_n(sum, plan.weight_size(), T{0});
    constexpr std::int64_t kTileRows = Products::kWideTileRows;
    for (std::int64_t row = first; row < end; row += kTileRows)
      losses[group] +=
          tile_loss<Products>(plan, of, row, std::min(kTileRows, end - row), row == first, arguments.output<T>(1), sum);
  });
  double loss = 0;
  for (std::int64_t group = 0; group < plan.groups; ++group) loss += losses[group];
  *arguments.output<T>(0) = static_cast<T>(loss / static_cast<double>(counted));
  add_in_order(workers, sums, plan.weight_size(), plan.groups, plan.weight_size(), arguments.output<T>(2));
}

template <class Products>
std::unique_ptr<Kernel> make(const KernelRequest& request) {
  const Plan plan(request);
  const std::int64_t bytes =
      Products::right_bytes(plan.width, plan.classes) + Products::right_bytes(plan.classes, plan.width) + 128;
  return make_kernel(
      [plan](const KernelArguments& arguments) { run<Products>(arguments, plan); },
      static_cast<std::size_t>(plan.groups) * sizeof(double) +
          static_cast<std::size_t>(plan.groups * plan.weight_size()) * sizeof(typename Products::Number) +
          static_cast<std::size_t>(bytes));
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_linear_cross_entropy(const KernelRequest& request) {
  return for_products(request, [&]<class Products>() { return make<Products>(request); });
}

}  // namespace jari
