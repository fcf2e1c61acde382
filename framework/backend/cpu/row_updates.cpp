#include "framework/ops/row_updates.hpp"

#include <cstring>

#include "framework/backend/cpu/cpu_kernel.hpp"

namespace jari {

namespace {

using namespace cpu;

// Kernels that change rows write in place, or to a copy made first.
template <class T>
T* copied(const KernelArguments& arguments, int i, std::int64_t count) {
  T* const out = arguments.output<T>(i);
  if (out != arguments.input<T>(i))
    std::memcpy(out, arguments.input<T>(i), static_cast<std::size_t>(count) * sizeof(T));
  return out;
}

// Rows lie all over a table: asking for one a few rows early hides most of the way to it.
constexpr std::int64_t kAhead = 4;

template <class T>
void sgd_rows(const KernelArguments& arguments, std::int64_t table_rows, std::int64_t width, std::int64_t count) {
  const T* const rows = arguments.input<T>(1);
  const auto* ids = arguments.input<std::int32_t>(2);
  const T rate = *arguments.input<T>(3), decay = *arguments.input<T>(4);
  T* const table = copied<T>(arguments, 0, table_rows * width);
  if (decay != T(0)) {  // shrinks all rows
    const T kept = 1 - rate * decay;
    for_blocks(*arguments.workers, table_rows * width, kBlock, [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) table[i] *= kept;
    });
  }
  for_row_blocks(*arguments.workers, count, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + kAhead < end && ids[i + kAhead] >= 0) {
        const T* const next = table + std::min<std::int64_t>(ids[i + kAhead], table_rows - 1) * width;
        for (std::int64_t j = 0; j < width; j += 64 / static_cast<std::int64_t>(sizeof(T)))
          __builtin_prefetch(next + j);
      }
      if (ids[i] < 0) continue;
      T* const to = table + std::min<std::int64_t>(ids[i], table_rows - 1) * width;
      const T* const from = rows + i * width;
#pragma omp simd
      for (std::int64_t j = 0; j < width; ++j) to[j] -= rate * from[j];
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_sgd_update_rows(const KernelRequest& request) {
  const Shape& table = request.inputs[0].shape;
  const std::int64_t rows = table[0], width = table.last(table.rank() - 1).size();
  const std::int64_t count = request.inputs[2].shape[0];
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const KernelArguments& arguments) { sgd_rows<T>(arguments, rows, width, count); });
  });
}

}  // namespace jari
