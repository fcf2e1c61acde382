// Sums and maxima over axes. A reduction is done one group of neighboring axes at a time, the last group first; a long
// one in chunks whose partial results are reduced again. All cuts follow from the shape, so the order of additions is
// fixed. A chunk of a sum along rows is added up in f64.

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/rows.hpp"
#include "framework/backend/layout.hpp"
#include "framework/ops/attributes.hpp"

namespace jari {

namespace {

using cpu::blocks_of;
using cpu::for_row_blocks;
using cpu::kBlock;
using cpu::make_kernel;

constexpr std::int64_t kColumns = 4096;  // of a block of columns
constexpr std::int64_t kFewestRows = 16;
constexpr std::int64_t kSumBlock = 1024;  // elements of a row that are added in its own precision

template <class T>
struct Sum {
  static T empty() { return 0; }
  static T pair(T a, T b) { return a + b; }
  static T row(const T* x, std::int64_t count) {
    std::conditional_t<std::is_integral_v<T>, std::int64_t, double> total = 0;
    for (std::int64_t begin = 0; begin < count; begin += kSumBlock) {
      const T* const block = x + begin;
      total += cpu::sum_of<T>(std::min(kSumBlock, count - begin), [block](std::int64_t i) { return block[i]; });
    }
    return static_cast<T>(total);
  }
};

template <class T>
struct Max {
  static T empty() {
    return std::is_integral_v<T> ? std::numeric_limits<T>::min() : -std::numeric_limits<T>::infinity();
  }
  static T pair(T a, T b) { return a < b ? b : a; }
  static T row(const T* x, std::int64_t count) { return cpu::largest_of(x, count, empty()); }
};

// [outer][reduced][inner] -> [outer][chunks][inner]
struct Stage {
  std::int64_t outer, reduced, inner, chunk;
  std::int64_t chunks() const { return blocks_of(reduced, chunk); }
  std::int64_t output_size() const { return outer * chunks() * inner; }
};

// The stages of a reduction, the last of which gives the result.
std::vector<Stage> stages_of(const Shape& shape, const std::vector<int>& axes) {
  std::vector<Stage> stages;
  for (const auto& [outer, reduced, inner] : reduced_axes(shape, axes)) {
    const std::int64_t chunk = inner == 1 ? kBlock : std::max(kFewestRows, kBlock / std::min(kColumns, inner));
    std::int64_t size = reduced;
    do {
      stages.push_back({outer, size, inner, chunk});
      size = stages.back().chunks();
    } while (size > 1);
  }
  return stages;
}

// result[j] = x[0][j] + x[1][j] + ... over rows that lie `stride` apart.
template <class T, class Reduction>
void reduce_columns(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t columns, T* result) {
  std::copy_n(x, columns, result);
  std::int64_t i = 1;
  for (; i + 4 <= rows; i += 4) {
    const T *const a = x + i * stride, *const b = a + stride, *const c = b + stride, *const d = c + stride;
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j)
      result[j] = Reduction::pair(result[j], Reduction::pair(Reduction::pair(a[j], b[j]), Reduction::pair(c[j], d[j])));
  }
  for (; i < rows; ++i) {
    const T* const a = x + i * stride;
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) result[j] = Reduction::pair(result[j], a[j]);
  }
}

template <class T, class Reduction>
void run_stage(const Stage& stage, const T* x, T* result, const Workers& workers) {
  const std::int64_t chunks = stage.chunks(), strips = blocks_of(stage.inner, kColumns);
  const std::int64_t cell = std::min(stage.chunk, stage.reduced) * std::min(kColumns, stage.inner);
  for_row_blocks(workers, stage.outer * chunks * strips, cell, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t strip = i % strips, chunk = i / strips % chunks, outer = i / strips / chunks;
      const std::int64_t first = chunk * stage.chunk, rows = std::min(stage.chunk, stage.reduced - first);
      const T* const from = x + (outer * stage.reduced + first) * stage.inner + strip * kColumns;
      T* const to = result + (outer * chunks + chunk) * stage.inner + strip * kColumns;
      if (stage.inner == 1) {
        *to = Reduction::row(from, rows);
      } else {
        reduce_columns<T, Reduction>(from, rows, stage.inner, std::min(kColumns, stage.inner - strip * kColumns), to);
      }
    }
  });
}

template <class T, class Reduction>
std::unique_ptr<Kernel> reduce_kernel(const KernelRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const std::int64_t size = request.outputs[0].shape.size();
  if (shape.size() == 0) {
    return make_kernel(
        [size](const KernelArguments& arguments) { std::fill_n(arguments.output<T>(0), size, Reduction::empty()); });
  }
  const std::vector<Stage> stages = stages_of(shape, request.attributes.as<ReduceAttributes>().axes);
  std::int64_t between = 0;  // elements of the largest result between two stages
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) between = std::max(between, stages[i].output_size());
  return make_kernel(
      [stages, between](const KernelArguments& arguments) {
        T* const workspace = static_cast<T*>(arguments.workspace);
        const T* from = arguments.input<T>(0);
        for (std::size_t i = 0; i < stages.size(); ++i) {
          T* const to = i + 1 == stages.size() ? arguments.output<T>(0) : workspace + (i % 2 ? between : 0);
          run_stage<T, Reduction>(stages[i], from, to, *arguments.workers);
          from = to;
        }
      },
      2 * static_cast<std::size_t>(between) * sizeof(T));
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_reduce_sum(const KernelRequest& request) {
  return cpu::for_number(request, request.inputs[0].dtype,
                         [&]<class T>() { return reduce_kernel<T, Sum<T>>(request); });
}

std::unique_ptr<Kernel> make_cpu_reduce_max(const KernelRequest& request) {
  return cpu::for_number(request, request.inputs[0].dtype,
                         [&]<class T>() { return reduce_kernel<T, Max<T>>(request); });
}

std::unique_ptr<Kernel> make_cpu_argmax(const KernelRequest& request) {
  const std::int64_t columns = request.inputs[0].shape[-1], rows = request.outputs[0].shape.size();
  return cpu::for_number(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([rows, columns](const KernelArguments& arguments) {
      for_row_blocks(*arguments.workers, rows, columns, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const T* const row = arguments.input<T>(0) + i * columns;
          const T* const first = std::find(row, row + columns, Max<T>::row(row, columns));
          arguments.output<std::int32_t>(0)[i] = first == row + columns ? 0 : static_cast<std::int32_t>(first - row);
        }
      });
    });
  });
}

std::unique_ptr<Kernel> make_cpu_sum_of_squares(const KernelRequest& request) {
  struct Stretch {  // of an input
    int input;
    std::int64_t begin, end;
  };
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const std::int64_t count = request.inputs[i].shape.size();
    for (std::int64_t begin = 0; begin < count; begin += kBlock)
      stretches.push_back({static_cast<int>(i), begin, std::min(count, begin + kBlock)});
  }
  const std::size_t bytes = stretches.size() * sizeof(double);
  return cpu::for_real(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel(
        [stretches](const KernelArguments& arguments) {
          const auto blocks = static_cast<std::int64_t>(stretches.size());
          auto* const partials = static_cast<double*>(arguments.workspace);
          arguments.workers->for_each(blocks, [&](std::int64_t block, int) {
            const Stretch& of = stretches[static_cast<std::size_t>(block)];
            const T* const x = arguments.input<T>(of.input);
            partials[block] = 0;
            for (std::int64_t begin = of.begin; begin < of.end; begin += kSumBlock) {
              partials[block] += static_cast<double>(cpu::sum_of<T>(
                  std::min(kSumBlock, of.end - begin), [&](std::int64_t i) { return x[begin + i] * x[begin + i]; }));
            }
          });
          *arguments.output<T>(0) = static_cast<T>(std::accumulate(partials, partials + blocks, 0.0));
        },
        bytes);
  });
}

}  // namespace jari
