// Rows of tables by ids, and back. An id out of range is moved into it: that keeps memory safe, and what feeds the ids
// is where such a mistake is told.

#include <cstring>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/ops/attributes.hpp"

namespace jari {

namespace {

using cpu::for_row_blocks;
using cpu::make_kernel;

std::int64_t in_range(std::int32_t id, std::int64_t rows) { return std::clamp<std::int64_t>(id, 0, rows - 1); }

// Columns [begin, end) of all rows: each element gets its additions in the order of the ids, however the columns are
// cut.
template <class T>
void add_columns(const T* updates, const std::int32_t* ids, std::int64_t count, std::int64_t rows, std::int64_t width,
                 std::int64_t begin, std::int64_t end, T* out) {
  for (std::int64_t row = 0; row < rows; ++row) std::fill(out + row * width + begin, out + row * width + end, T(0));
  const std::int64_t columns = end - begin;
  for (std::int64_t i = 0; i < count; ++i) {
    T* const to = out + in_range(ids[i], rows) * width + begin;
    const T* const from = updates + i * width + begin;
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) to[j] += from[j];
  }
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_gather(const KernelRequest& request) {
  const Shape& table = request.inputs[0].shape;
  const std::int64_t rows = table[0], count = request.inputs[1].shape.size();
  const std::int64_t width = table.last(table.rank() - 1).size();
  return cpu::for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const KernelArguments& arguments) {
      const std::int32_t* const ids = arguments.input<std::int32_t>(1);
      for_row_blocks(*arguments.workers, count, width, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          std::memcpy(arguments.output<T>(0) + i * width, arguments.input<T>(0) + in_range(ids[i], rows) * width,
                      static_cast<std::size_t>(width) * sizeof(T));
      });
    });
  });
}

std::unique_ptr<Kernel> make_cpu_scatter_add(const KernelRequest& request) {
  const Shape& result = request.outputs[0].shape;
  const std::int64_t rows = result[0], width = result.last(result.rank() - 1).size();
  const std::int64_t count = request.inputs[1].shape.size();
  return cpu::for_number(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const KernelArguments& arguments) {
      constexpr std::int64_t kFewestColumns = 64 / sizeof(T);  // a cache line: cores share none
      const Workers& workers = *arguments.workers;
      const std::int64_t columns = std::max(kFewestColumns, cpu::blocks_of(width, workers.threads()));
      cpu::for_blocks(workers, width, columns, [&](std::int64_t begin, std::int64_t end) {
        add_columns(arguments.input<T>(0), arguments.input<std::int32_t>(1), count, rows, width, begin, end,
                    arguments.output<T>(0));
      });
    });
  });
}

}  // namespace jari
