#include "framework/backend/cpu/large_matmul.hpp"

#include "framework/backend/cpu/products.hpp"
#include "framework/backend/cpu/scratch.hpp"
#include "framework/ops/matmul.hpp"

namespace jari {

namespace {

using namespace cpu;

constexpr std::int64_t kTileRows = 96;    // of the tall operand, at a time
constexpr std::int64_t kGroupRows = 512;  // that share one sum, where rows are summed over

// result [rows, n] = left [rows, k] x right [k, n], which may be stored transposed.
struct TallPlan {
  std::int64_t rows, n, k;
  bool right_transposed, biased, added;
};

// The workspace holds the right operand, made ready.
template <class Products>
void run_tall(const KernelArguments& arguments, const TallPlan& plan) {
  using T = typename Products::Number;
  const auto [rows, n, k, right_transposed, biased, added] = plan;
  const T* const bias = biased ? arguments.input<T>(2) : nullptr;
  const T* const addend = added ? arguments.input<T>(biased ? 3 : 2) : nullptr;
  const T *left = arguments.input<T>(0), *b = arguments.input<T>(1);
  T* const out = arguments.output<T>(0);
  const Strided<T> right = right_transposed ? Strided<T>{b, 1, k} : Strided<T>{b, n, 1};
  const auto ready = Products::right(right, k, n, arguments.workspace);
  const std::int64_t left_bytes = Products::left_bytes(kTileRows, k);
  for_blocks(*arguments.workers, rows, kTileRows, [&, n = n, k = k](std::int64_t begin, std::int64_t end) {
    void* const memory = thread_scratch(static_cast<std::size_t>(left_bytes) + 64);
    Products::multiply({left + begin * k, k, 1}, ready, out + begin * n, n, end - begin, n, k, false, memory);
    add_to_rows(out + begin * n, end - begin, n, bias, addend ? addend + begin * n : nullptr);
  });
}

// result [m, n] = left^T right, the sum over the rows of left [rows, m] and right [rows, n].
struct SumPlan {
  std::int64_t m, n, rows, groups, group_rows;
};

// The workspace holds the groups' sums.
template <class Products>
void run_sum(const KernelArguments& arguments, const SumPlan& plan) {
  using T = typename Products::Number;
  const auto [m, n, rows, groups, group_rows] = plan;
  const T *left = arguments.input<T>(0), *right = arguments.input<T>(1);
  T *const sums = static_cast<T*>(arguments.workspace), *const out = arguments.output<T>(0);
  const std::int64_t left_bytes = Products::left_bytes(m, kTileRows);
  const std::int64_t right_bytes = Products::right_bytes(kTileRows, n), size = m * n;
  arguments.workers->for_each(groups, [&, m = m, n = n, rows = rows, each = group_rows](std::int64_t group, int) {
    Pieces scratch(thread_scratch(static_cast<std::size_t>(left_bytes + right_bytes) + 64));
    void *const left_memory = scratch.bytes(left_bytes), *const right_memory = scratch.bytes(right_bytes);
    const std::int64_t first = group * each, end = std::min(rows, first + each);
    if (first >= end) std::fill_n(sums + group * size, size, T{0});
    for (std::int64_t row = first; row < end; row += kTileRows) {
      const std::int64_t count = std::min(kTileRows, end - row);
      const auto ready = Products::right({right + row * n, n, 1}, count, n, right_memory);
      Products::multiply({left + row * m, 1, m}, ready, sums + group * size, n, m, n, count, row > first, left_memory);
    }
  });
  add_in_order(*arguments.workers, sums, size, groups, size, out);
}

// Numbers of the smaller operand, and of a sum: they are to stay in a core's second-level cache.
constexpr std::int64_t kMostNumbers = 1 << 18;

template <class Products>
std::unique_ptr<Kernel> make(const KernelRequest& request) {
  using T = typename Products::Number;
  const auto& attributes = request.attributes.as<MatmulAttributes>();
  const auto [transpose_left, transpose_right, biased, added] = attributes;
  const MatmulSizes sizes = matmul_sizes(request.inputs[0], request.inputs[1], attributes);
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  if (!transpose_left && request.inputs[1].shape.rank() == 2) {
    const TallPlan plan = {sizes.m * sizes.batch.size(), sizes.n, sizes.k, transpose_right, biased, added};
    if (plan.rows < 4 * kTileRows || plan.n < 32 || plan.k < 32 || plan.n * plan.k > kMostNumbers) return nullptr;
    return make_kernel([plan](const KernelArguments& arguments) { run_tall<Products>(arguments, plan); },
                       bytes(Products::right_bytes(plan.k, plan.n)));
  }
  const bool is_sum = transpose_left && !transpose_right && sizes.batch.size() == 1 && !biased && !added;
  if (!is_sum || sizes.k < 2 * kGroupRows || sizes.m < 32 || sizes.n < 32 || sizes.m * sizes.n > kMostNumbers)
    return nullptr;
  const std::int64_t groups = std::clamp<std::int64_t>(sizes.k / kGroupRows, 1, 64);
  const SumPlan plan = {sizes.m, sizes.n, sizes.k, groups, blocks_of(sizes.k, groups)};
  return make_kernel([plan](const KernelArguments& arguments) { run_sum<Products>(arguments, plan); },
                     bytes(groups * plan.m * plan.n) * sizeof(T));
}

}  // namespace

std::unique_ptr<Kernel> make_large_matmul(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::f32) return nullptr;
  if (request.products == Products::bf16) return make<Bf16Products>(request);
  // With the 32 registers of AVX-512 our own products are as fast as the library's.
  return kVectorBytes == 64 && request.outputs[0].shape[-1] % Panels<float>::kColumns == 0
             ? make<ExactProducts<float>>(request)
             : nullptr;
}

}  // namespace jari
