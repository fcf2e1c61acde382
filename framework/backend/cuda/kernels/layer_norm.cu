// Layer normalization and its gradient: a warp a row, or a block where rows are long. Sums over a row are taken by each
// thread of every so many elements, in order, then over the threads.

#include "framework/ops/layer_norm.hpp"

#include <algorithm>

#include "framework/backend/cuda/column_sums.hpp"
#include "framework/backend/cuda/real_math.hpp"
#include "framework/backend/cuda/row_threads.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class T>
struct Norm {
  std::int64_t rows, width;
  T epsilon;
  bool centered;
};

template <class T>
struct Moments {
  T mean, inverse_deviation;
};

// Where the mean stays in, it counts as 0.
template <class Threads, class T>
__device__ Moments<T> moments_of(const T* row, const Norm<T>& norm, T* parts) {
  const T width = static_cast<T>(norm.width);
  T mean = 0, squares = 0;
  if (norm.centered) {
    for (std::int64_t j = Threads::thread(); j < norm.width; j += Threads::kThreads) mean += row[j];
    mean = Threads::reduce(mean, Sum(), parts) / width;
  }
  for (std::int64_t j = Threads::thread(); j < norm.width; j += Threads::kThreads)
    squares += (row[j] - mean) * (row[j] - mean);
  squares = Threads::reduce(squares, Sum(), parts);
  return {mean, T(1) / square_root(squares / width + norm.epsilon)};
}

// The result may lie over x. `shift` may be null.
template <class Threads, class T>
__global__ void layer_norm(Norm<T> norm, Operand<const T> x, Operand<const T> scale, Operand<const T> shift,
                           Operand<T> out) {
  JARI_SHARED(T, parts, 32);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * Threads::kRows + Threads::row();
  if (row >= norm.rows) return;
  const T *const from = x.of_trial() + row * norm.width, *const factor = scale.of_trial();
  const T* const added = shift.data ? shift.of_trial() : nullptr;
  T* const to = out.of_trial() + row * norm.width;
  const auto [mean, inverse_deviation] = moments_of<Threads>(from, norm, parts);
  for (std::int64_t j = Threads::thread(); j < norm.width; j += Threads::kThreads)
    to[j] = (from[j] - mean) * inverse_deviation * factor[j] + (added ? added[j] : T(0));
}

template <class T>
struct GradientOperands {
  Operand<const T> x, scale, upstream;
  Operand<T> x_gradient;
  Operand<T> scale_sums, shift_sums;  // [blocks, width]
};

// The sums over rows that one thread has: of its own columns, in registers where there are up to kColumns of them,
// otherwise (0) where the block's sums go to.
template <class T, int kColumns>
struct ColumnSums {
  T scale[kColumns] = {}, shift[kColumns] = {};
  __device__ ColumnSums(T*, T*, std::int64_t, std::int64_t, std::int64_t) {}
  __device__ void add(int column, std::int64_t, T to_scale, T to_shift) {
    scale[column] += to_scale;
    shift[column] += to_shift;
  }
};
template <class T>
struct ColumnSums<T, 0> {
  T *scale, *shift;
  __device__ ColumnSums(T* to_scale, T* to_shift, std::int64_t first, std::int64_t step, std::int64_t width)
      : scale(to_scale), shift(to_shift) {
    for (std::int64_t j = first; j < width; j += step) scale[j] = shift[j] = 0;
  }
  __device__ void add(int, std::int64_t j, T to_scale, T to_shift) {
    scale[j] += to_scale;
    shift[j] += to_shift;
  }
};

// One row's gradient, which may lie over the row of `upstream`.
template <class Threads, int kColumns, class T>
__device__ void row_gradient(const Norm<T>& norm, const T* x, const T* scale, const T* upstream, T* x_gradient,
                             ColumnSums<T, kColumns>& sums, T* parts) {
  const auto [mean, inverse_deviation] = moments_of<Threads>(x, norm, parts);
  T inner_mean = 0, inner_product = 0;
  for (std::int64_t j = Threads::thread(); j < norm.width; j += Threads::kThreads) {
    const T inner = upstream[j] * scale[j];
    inner_mean += inner;
    inner_product += inner * (x[j] - mean) * inverse_deviation;
  }
  inner_mean = norm.centered ? Threads::reduce(inner_mean, Sum(), parts) / static_cast<T>(norm.width) : T(0);
  inner_product = Threads::reduce(inner_product, Sum(), parts) / static_cast<T>(norm.width);
  constexpr int kMost = kColumns > 0 ? kColumns : 1 << 30;
  for (int column = 0; column < kMost; ++column) {
    const std::int64_t j = static_cast<std::int64_t>(column) * Threads::kThreads + Threads::thread();
    if (j >= norm.width) break;
    const T along = (x[j] - mean) * inverse_deviation, above = upstream[j];
    sums.add(column, j, above * along, above);
    x_gradient[j] = (above * scale[j] - inner_mean - along * inner_product) * inverse_deviation;
  }
}

// A block takes `rows_each` rows, one for each of its warps at a time or one at a time, and adds up what they give to
// the gradients of scale and shift: a thread over its rows, then over the warps, in order.
template <class Threads, int kColumns, class T>
__global__ void layer_norm_gradient(Norm<T> norm, GradientOperands<T> of, std::int64_t rows_each) {
  JARI_SHARED(T, parts, 32);
  JARI_SHARED(T, warps, kRowThreads);
  const std::int64_t first = blockIdx.x * rows_each;
  const std::int64_t end = first + rows_each < norm.rows ? first + rows_each : norm.rows;
  T* const scale_sums = of.scale_sums.of_trial() + blockIdx.x * norm.width;
  T* const shift_sums = of.shift_sums.of_trial() + blockIdx.x * norm.width;
  ColumnSums<T, kColumns> sums(scale_sums, shift_sums, Threads::thread(), Threads::kThreads, norm.width);
  for (std::int64_t row = first + Threads::row(); row < end; row += Threads::kRows) {
    const std::int64_t at = row * norm.width;
    row_gradient<Threads>(norm, of.x.of_trial() + at, of.scale.of_trial(), of.upstream.of_trial() + at,
                          of.x_gradient.of_trial() + at, sums, parts);
  }
  if constexpr (kColumns > 0) {
    const auto add_warps = [&](T own, std::int64_t j, T* to) {
      warps[threadIdx.x] = own;
      __syncthreads();
      if (Threads::row() == 0 && j < norm.width) {
        for (int warp = 1; warp < Threads::kRows; ++warp) own += warps[warp * kWarp + Threads::thread()];
        to[j] = own;
      }
      __syncthreads();
    };
    for (int column = 0; column < kColumns; ++column) {
      const std::int64_t j = static_cast<std::int64_t>(column) * Threads::kThreads + Threads::thread();
      add_warps(sums.scale[column], j, scale_sums);
      add_warps(sums.shift[column], j, shift_sums);
    }
  }
}

template <class T>
Norm<T> norm_of(const KernelRequest& request) {
  const auto& options = request.attributes.as<LayerNormAttributes>();
  const std::int64_t width = request.inputs[0].shape[-1];
  return {width == 0 ? 0 : request.inputs[0].shape.size() / width, width, static_cast<T>(options.epsilon),
          options.centered};
}

// How the gradient's rows are cut: enough blocks for a card, and few enough that their sums are little.
struct Cut {
  explicit Cut(std::int64_t rows)
      : rows_each(std::max<std::int64_t>(2 * kRowsOfWarps, blocks_of(rows, 256))), blocks(blocks_of(rows, rows_each)) {}
  std::int64_t rows_each, blocks;
};

template <class T>
using GradientKernel = void (*)(Norm<T>, GradientOperands<T>, std::int64_t);

// By the number of columns that a thread has.
template <class T>
GradientKernel<T> gradient_kernel(std::int64_t width) {
  if (width <= 2 * kWarp) return layer_norm_gradient<WarpRow, 2, T>;
  if (width <= 4 * kWarp) return layer_norm_gradient<WarpRow, 4, T>;
  if (width <= 8 * kWarp) return layer_norm_gradient<WarpRow, 8, T>;
  if (width <= 16 * kWarp) return layer_norm_gradient<WarpRow, 16, T>;
  if (width <= 4 * static_cast<std::int64_t>(kRowThreads)) return layer_norm_gradient<BlockRow, 4, T>;
  if (width <= 8 * static_cast<std::int64_t>(kRowThreads)) return layer_norm_gradient<BlockRow, 8, T>;
  return layer_norm_gradient<BlockRow, 0, T>;
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_layer_norm(const KernelRequest& request) {
  const bool shifted = request.attributes.as<LayerNormAttributes>().shifted;
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const Norm<T> norm = norm_of<T>(request);
    const bool is_short = norm.width <= kLongestWarpRow;
    return make_kernel([=](const Call& call) {
      call.launch(is_short ? layer_norm<WarpRow, T> : layer_norm<BlockRow, T>,
                  is_short ? blocks_of(norm.rows, WarpRow::kRows) : norm.rows, kRowThreads, 0, norm, call.input<T>(0),
                  call.input<T>(1), shifted ? call.input<T>(2) : Operand<const T>(), call.output<T>(0));
    });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_layer_norm_gradient(const KernelRequest& request) {
  const bool shifted = request.attributes.as<LayerNormAttributes>().shifted;
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const Norm<T> norm = norm_of<T>(request);
    const Cut cut(norm.rows);
    const std::size_t sums = aligned(static_cast<std::size_t>(cut.blocks * norm.width) * sizeof(T));
    const auto launch = [=](const Call& call) {
      const Operand<T> scale_sums = call.workspace<T>(0, 2 * sums), shift_sums = call.workspace<T>(sums, 2 * sums);
      const GradientOperands<T> of = {call.input<T>(0),  call.input<T>(1), call.input<T>(2),
                                      call.output<T>(0), scale_sums,       shift_sums};
      call.launch(gradient_kernel<T>(norm.width), cut.blocks, kRowThreads, 0, norm, of, cut.rows_each);
      launch_sum_columns(call, scale_sums, call.output<T>(1), cut.blocks, norm.width);
      if (shifted) launch_sum_columns(call, shift_sums, call.output<T>(2), cut.blocks, norm.width);
    };
    return make_kernel(launch, 2 * sums);
  });
}

}  // namespace jari
