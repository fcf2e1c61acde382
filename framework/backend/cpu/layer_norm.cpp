#include "framework/ops/layer_norm.hpp"

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/rows.hpp"

namespace jari {

namespace {

using namespace cpu;

template <class T>
struct Moments {
  T mean, inverse_deviation;
};

// Where the mean stays in, it counts as 0.
template <class T>
Moments<T> moments_of(const T* row, std::int64_t width, const LayerNormAttributes& options) {
  const T mean =
      options.centered ? sum_of<T>(width, [&](std::int64_t i) { return row[i]; }) / static_cast<T>(width) : T{0};
  const T squares = sum_of<T>(width, [&](std::int64_t i) { return (row[i] - mean) * (row[i] - mean); });
  return {mean, 1 / std::sqrt(squares / static_cast<T>(width) + static_cast<T>(options.epsilon))};
}

struct Rows {
  explicit Rows(const TensorType& x) : width(x.shape[-1]), count(width == 0 ? 0 : x.shape.size() / width) {}

  std::int64_t width, count;
  // Rows a block: many, for each block has its own sums over its rows.
  std::int64_t block() const { return std::max<std::int64_t>(1, 2 * kBlock / std::max<std::int64_t>(1, width)); }
  std::int64_t blocks() const { return blocks_of(count, block()); }
};

template <class T>
void normalize(const KernelArguments& arguments, const Rows& rows, const LayerNormAttributes& options) {
  const T *x = arguments.input<T>(0), *scale = arguments.input<T>(1);
  const T* shift = options.shifted ? arguments.input<T>(2) : nullptr;
  T* out = arguments.output<T>(0);
  const std::int64_t width = rows.width;
  for_row_blocks(*arguments.workers, rows.count, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* from = x + i * width;
      T* to = out + i * width;
      const auto [mean, inverse_deviation] = moments_of(from, width, options);
      if (shift) {
#pragma omp simd
        for (std::int64_t j = 0; j < width; ++j) to[j] = (from[j] - mean) * inverse_deviation * scale[j] + shift[j];
      } else {
#pragma omp simd
        for (std::int64_t j = 0; j < width; ++j) to[j] = (from[j] - mean) * inverse_deviation * scale[j];
      }
    }
  });
}

// One row's gradient; adds to the gradients of scale and shift. `x_gradient` may be `upstream`.
template <class T>
void row_gradient(const T* x, const T* scale, const T* upstream, std::int64_t width, const LayerNormAttributes& options,
                  T* x_gradient, T* scale_gradient, T* shift_gradient) {
  const auto [mean, inverse_deviation] = moments_of(x, width, options);
  const auto normalized = [&, mean = mean, inverse = inverse_deviation](std::int64_t j) {
    return (x[j] - mean) * inverse;
  };
  const auto inner = [&](std::int64_t j) { return upstream[j] * scale[j]; };
  const auto [sum, product] = sums_of<T>(width, inner, [&](std::int64_t j) { return inner(j) * normalized(j); });
  const T inner_mean = options.centered ? sum / static_cast<T>(width) : T{0};
  const T inner_product = product / static_cast<T>(width);
#pragma omp simd
  for (std::int64_t j = 0; j < width; ++j) {
    const T along = normalized(j), above = upstream[j];
    scale_gradient[j] += above * along;
    shift_gradient[j] += above;
    x_gradient[j] = (above * scale[j] - inner_mean - along * inner_product) * inverse_deviation;
  }
}

template <class T>
void backpropagate(const KernelArguments& arguments, const Rows& rows, const LayerNormAttributes& options) {
  const T *x = arguments.input<T>(0), *scale = arguments.input<T>(1), *upstream = arguments.input<T>(2);
  T *x_gradient = arguments.output<T>(0), *partials = static_cast<T*>(arguments.workspace);
  const std::int64_t width = rows.width, block = rows.block();
  arguments.workers->for_each(rows.blocks(), [&](std::int64_t i, int) {
    T *scale_gradient = partials + 2 * i * width, *shift_gradient = scale_gradient + width;
    std::fill_n(scale_gradient, 2 * width, T{0});
    for (std::int64_t row = i * block; row < std::min(rows.count, (i + 1) * block); ++row) {
      row_gradient(x + row * width, scale, upstream + row * width, width, options, x_gradient + row * width,
                   scale_gradient, shift_gradient);
    }
  });
  for (int which = 0; which < (options.shifted ? 2 : 1); ++which) {
    T* total = arguments.output<T>(1 + which);
    std::fill_n(total, width, T{0});
    for (std::int64_t i = 0; i < rows.blocks(); ++i) {
      const T* partial = partials + (2 * i + which) * width;
      for (std::int64_t j = 0; j < width; ++j) total[j] += partial[j];
    }
  }
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_layer_norm(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const auto options = request.attributes.as<LayerNormAttributes>();
    return make_kernel([rows = Rows(request.inputs[0]), options](const KernelArguments& arguments) {
      normalize<T>(arguments, rows, options);
    });
  });
}

std::unique_ptr<Kernel> make_cpu_layer_norm_gradient(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const auto options = request.attributes.as<LayerNormAttributes>();
    const Rows rows(request.inputs[0]);
    return make_kernel(
        [rows, options](const KernelArguments& arguments) { backpropagate<T>(arguments, rows, options); },
        static_cast<std::size_t>(2 * rows.blocks() * rows.width) * sizeof(T));
  });
}

}  // namespace jari
