#include "framework/ops/gelu_mlp.hpp"

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/products.hpp"
#include "framework/backend/cpu/scratch.hpp"
#include "framework/backend/cpu/vector_math.hpp"

namespace jari {

namespace {

using namespace cpu;

constexpr std::int64_t kTileRows = 96;           // whose hidden numbers stay in a core's cache
constexpr std::int64_t kGradientTileRows = 192;  // more, for each tile reads and writes the sums of its group
constexpr std::int64_t kGroupRows = 512;         // that share one sum of each weight's gradient

// How the work is cut: by the problem alone. Of the gradient, a group of rows is one core's, tile after tile; the
// groups' sums of the weights' gradients are added in order.
struct Plan {
  explicit Plan(const KernelRequest& request)
      : width(request.inputs[0].shape[-1]),
        hidden(request.inputs[1].shape[1]),
        out(request.inputs[2].shape[1]),
        rows(width == 0 ? 0 : request.inputs[0].shape.size() / width),
        biased(request.attributes.as<GeluMlpAttributes>().biased),
        groups(std::clamp<std::int64_t>(rows / kGroupRows, 1, 64)),
        group_rows(blocks_of(rows, groups)) {}

  std::int64_t width, hidden, out, rows;
  bool biased;
  std::int64_t groups, group_rows;

  std::int64_t inner_size() const { return width * hidden; }
  std::int64_t outer_size() const { return hidden * out; }
  std::int64_t sums_size() const { return inner_size() + outer_size() + hidden; }  // of one group
};

// The workspace holds the weights, made ready.
template <class Products>
void run(const KernelArguments& arguments, const Plan& plan) {
  using T = typename Products::Number;
  const T *const x = arguments.input<T>(0), *const bias = plan.biased ? arguments.input<T>(3) : nullptr;
  T *const result = arguments.output<T>(0), *const saved = arguments.output<T>(1);
  Pieces workspace(arguments.workspace);
  const auto inner = Products::right({arguments.input<T>(1), plan.hidden, 1}, plan.width, plan.hidden,
                                     workspace.bytes(Products::right_bytes(plan.width, plan.hidden)));
  const auto outer = Products::right({arguments.input<T>(2), plan.out, 1}, plan.hidden, plan.out,
                                     workspace.bytes(Products::right_bytes(plan.hidden, plan.out)));
  const std::int64_t left_bytes = Products::left_bytes(kTileRows, std::max(plan.width, plan.hidden));
  for_blocks(*arguments.workers, plan.rows, kTileRows, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t rows = end - begin, size = rows * plan.hidden;
    Pieces scratch(thread_scratch(static_cast<std::size_t>(kTileRows * plan.hidden) * sizeof(T) + 64 +
                                  static_cast<std::size_t>(left_bytes)));
    T *const before = saved + begin * plan.hidden, *const after = scratch.numbers<T>(kTileRows * plan.hidden);
    void* const left = scratch.bytes(left_bytes);
    Products::multiply({x + begin * plan.width, plan.width, 1}, inner, before, plan.hidden, rows, plan.hidden,
                       plan.width, false, left);
    for (std::int64_t i = 0; i < size; i += plan.hidden) {
      add_to_rows<T>(before + i, 1, plan.hidden, bias, nullptr);
#pragma omp simd
      for (std::int64_t j = i; j < i + plan.hidden; ++j) after[j] = gelu(before[j], gelu_share(before[j]));
    }
    Products::multiply({after, plan.hidden, 1}, outer, result + begin * plan.out, plan.out, rows, plan.out, plan.hidden,
                       false, left);
  });
}

template <class Products>
struct Gradient {
  using T = typename Products::Number;
  const T *x, *saved, *upstream;
  typename Products::Right inner, outer;  // transposed
  T* x_gradient;
};

// The sums of one group.
template <class T>
struct Sums {
  T *inner, *outer, *bias;
};

// What the products of one tile of rows take.
template <class Products>
struct TileMemory {
  using T = typename Products::Number;
  explicit TileMemory(const Plan& plan) {
    const std::int64_t wide = std::max(plan.width, plan.out), numbers = kGradientTileRows * plan.hidden;
    const std::int64_t left_bytes = std::max(Products::left_bytes(kGradientTileRows, std::max(wide, plan.hidden)),
                                             Products::left_bytes(std::max(wide, plan.hidden), kGradientTileRows));
    const std::int64_t right_bytes = Products::right_bytes(kGradientTileRows, std::max(wide, plan.hidden));
    Pieces pieces(thread_scratch(static_cast<std::size_t>(2 * numbers) * sizeof(T) + 128 +
                                 static_cast<std::size_t>(left_bytes + right_bytes)));
    active = pieces.numbers<T>(numbers);
    by_hidden = pieces.numbers<T>(numbers);
    left = pieces.bytes(left_bytes);
    right = pieces.bytes(right_bytes);
  }
  T *active, *by_hidden;
  void *left, *right;
};

template <class Products>
void tile_gradient(const Plan& plan, const Gradient<Products>& of, std::int64_t begin, std::int64_t rows, bool is_first,
                   const Sums<typename Products::Number>& sums) {
  using T = typename Products::Number;
  const auto [width, hidden, out, all_rows, biased, groups, group_rows] = plan;
  const T *x = of.x + begin * width, *saved = of.saved + begin * hidden, *upstream = of.upstream + begin * out;
  const TileMemory<Products> memory(plan);
  T *const active = memory.active, *const by_hidden = memory.by_hidden;
  Products::multiply({upstream, out, 1}, of.outer, by_hidden, hidden, rows, hidden, out, false, memory.left);
  if (is_first) std::fill_n(sums.bias, hidden, T{0});
  for (std::int64_t i = 0; i < rows * hidden; i += hidden) {
#pragma omp simd
    for (std::int64_t j = i; j < i + hidden; ++j) {
      const T share = gelu_share(saved[j]);
      active[j] = gelu(saved[j], share);
      by_hidden[j] *= gelu_slope(saved[j], share);
    }
    add_to_rows<T>(sums.bias, 1, hidden, by_hidden + i, nullptr);
  }
  Products::multiply({by_hidden, hidden, 1}, of.inner, of.x_gradient + begin * width, width, rows, width, hidden, false,
                     memory.left);
  const auto hidden_rows = Products::right({by_hidden, hidden, 1}, rows, hidden, memory.right);
  Products::multiply({x, 1, width}, hidden_rows, sums.inner, hidden, width, hidden, rows, !is_first, memory.left);
  const auto upstream_rows = Products::right({upstream, out, 1}, rows, out, memory.right);
  Products::multiply({active, 1, hidden}, upstream_rows, sums.outer, out, hidden, out, rows, !is_first, memory.left);
}

// The workspace holds the groups' sums, then the weights transposed and made ready.
template <class Products>
void run_gradient(const KernelArguments& arguments, const Plan& plan) {
  using T = typename Products::Number;
  const Workers& workers = *arguments.workers;
  Pieces workspace(arguments.workspace);
  T* const sums = workspace.numbers<T>(plan.groups * plan.sums_size());
  const auto inner = Products::right({arguments.input<T>(1), 1, plan.hidden}, plan.hidden, plan.width,
                                     workspace.bytes(Products::right_bytes(plan.hidden, plan.width)));
  const auto outer = Products::right({arguments.input<T>(2), 1, plan.out}, plan.out, plan.hidden,
                                     workspace.bytes(Products::right_bytes(plan.out, plan.hidden)));
  const Gradient<Products> of = {arguments.input<T>(0), arguments.input<T>(3), arguments.input<T>(4), inner, outer,
                                 arguments.output<T>(0)};
  workers.for_each(plan.groups, [&](std::int64_t group, int) {
    T* const own = sums + group * plan.sums_size();
    const Sums<T> parts = {own, own + plan.inner_size(), own + plan.inner_size() + plan.outer_size()};
    const std::int64_t first = group * plan.group_rows, end = std::min(plan.rows, first + plan.group_rows);
    if (first >= end) std::fill_n(own, plan.sums_size(), T{0});
    for (std::int64_t row = first; row < end; row += kGradientTileRows)
      tile_gradient<Products>(plan, of, row, std::min(kGradientTileRows, end - row), row == first, parts);
  });
  const auto add_up = [&](std::int64_t offset, std::int64_t size, int output) {
    add_in_order(workers, sums + offset, plan.sums_size(), plan.groups, size, arguments.output<T>(output));
  };
  add_up(0, plan.inner_size(), 1);
  add_up(plan.inner_size(), plan.outer_size(), 2);
  if (plan.biased) add_up(plan.inner_size() + plan.outer_size(), plan.hidden, 3);
}

template <class Products>
std::unique_ptr<Kernel> make_forward(const KernelRequest& request) {
  const Plan plan(request);
  const std::int64_t bytes =
      Products::right_bytes(plan.width, plan.hidden) + Products::right_bytes(plan.hidden, plan.out);
  return make_kernel([plan](const KernelArguments& arguments) { run<Products>(arguments, plan); },
                     static_cast<std::size_t>(bytes));
}

template <class Products>
std::unique_ptr<Kernel> make_backward(const KernelRequest& request) {
  const Plan plan(request);
  const std::int64_t bytes =
      Products::right_bytes(plan.hidden, plan.width) + Products::right_bytes(plan.out, plan.hidden) + 64;
  return make_kernel([plan](const KernelArguments& arguments) { run_gradient<Products>(arguments, plan); },
                     static_cast<std::size_t>(plan.groups * plan.sums_size()) * sizeof(typename Products::Number) +
                         static_cast<std::size_t>(bytes));
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_gelu_mlp(const KernelRequest& request) {
  return for_products(request, [&]<class Products>() { return make_forward<Products>(request); });
}

std::unique_ptr<Kernel> make_cpu_gelu_mlp_gradient(const KernelRequest& request) {
  return for_products(request, [&]<class Products>() { return make_backward<Products>(request); });
}

}  // namespace jari
