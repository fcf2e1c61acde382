// Rows of tables by ids, and back. An id below 0 stands for none; one that is too large is moved into range: that keeps
// memory safe, and what feeds the ids is where such a mistake is told.

#include <cstring>
#include <numeric>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/row_slots.hpp"
#include "framework/backend/cpu/rows.hpp"
#include "framework/backend/cpu/scattered_rows.hpp"
#include "framework/ops/attributes.hpp"

namespace jari {

namespace {

using cpu::for_row_blocks;
using cpu::make_kernel;

// `task(begin, end)` over columns of rows of `width`: cores share no cache line.
template <class T, class Task>
void for_columns(const Workers& workers, std::int64_t width, const Task& task) {
  constexpr std::int64_t kFewest = 64 / sizeof(T);
  cpu::for_blocks(workers, width, std::max(kFewest, cpu::blocks_of(width, workers.threads())), task);
}

// Columns [begin, end) of all rows: each element gets its additions in the order of the ids, however the columns are
// cut.
template <class T>
void add_columns(const T* updates, const std::int32_t* ids, std::int64_t count, std::int64_t rows, std::int64_t width,
                 std::int64_t begin, std::int64_t end, T* out) {
  for (std::int64_t row = 0; row < rows; ++row) std::fill(out + row * width + begin, out + row * width + end, T(0));
  const std::int64_t columns = end - begin;
  for (std::int64_t i = 0; i < count; ++i) {
    if (ids[i] < 0) continue;
    T* const to = out + std::min<std::int64_t>(ids[i], rows - 1) * width + begin;
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
        for (std::int64_t i = begin; i < end; ++i) {
          T* const to = arguments.output<T>(0) + i * width;
          if (ids[i] < 0) {
            std::fill_n(to, width, T(0));
          } else {
            std::memcpy(to, arguments.input<T>(0) + std::min<std::int64_t>(ids[i], rows - 1) * width,
                        static_cast<std::size_t>(width) * sizeof(T));
          }
        }
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
      for_columns<T>(*arguments.workers, width, [&](std::int64_t begin, std::int64_t end) {
        add_columns(arguments.input<T>(0), arguments.input<std::int32_t>(1), count, rows, width, begin, end,
                    arguments.output<T>(0));
      });
    });
  });
}

std::unique_ptr<Kernel> make_cpu_combine_rows(const KernelRequest& request) {
  const Shape& result = request.outputs[0].shape;
  const std::int64_t kept = result[0], width = result.last(result.rank() - 1).size();
  const std::int64_t count = request.inputs[1].shape.size();
  const std::int64_t rows = request.attributes.as<ScatterAddAttributes>().rows;
  return cpu::for_real(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel(
        [=](const KernelArguments& arguments) {
          const auto* const ids = arguments.input<std::int32_t>(1);
          cpu::RowSlots slots(static_cast<double*>(arguments.workspace) + kept, rows, count,
                              arguments.output<std::int32_t>(1), kept);
          for (std::int64_t i = 0; i < count; ++i) slots.add(ids[i]);
          slots.finish();
          auto* const squares = static_cast<double*>(arguments.workspace);  // by row
          for_row_blocks(*arguments.workers, kept, width, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t slot = begin; slot < end; ++slot) {
              T* const to = arguments.output<T>(0) + slot * width;
              if (slot >= slots.used()) {
                std::fill_n(to, width, T(0));
                continue;
              }
              const auto each_row = [&](const auto& add) {
                slots.for_entries(slot, [&](std::int64_t i) { add(T(1), arguments.input<T>(0) + i * width); });
              };
              cpu::sum_rows(width, each_row, to);
            }
            const std::int64_t used = std::max(begin, std::min(end, slots.used()));
            cpu::squares_of_rows(arguments.output<T>(0) + begin * width, used - begin, width, squares + begin);
          });
          *arguments.output<T>(2) = static_cast<T>(std::accumulate(squares, squares + slots.used(), 0.0));
        },
        static_cast<std::size_t>(kept) * sizeof(double) + cpu::RowSlots::bytes(rows, count, kept));
  });
}

}  // namespace jari
