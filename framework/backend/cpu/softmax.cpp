#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/rows.hpp"

namespace jari {

namespace {

using namespace cpu;

// A kernel that calls `row(input 0, input 1 or null, output, width)` for each row along the last axis.
template <class T, class Row>
std::unique_ptr<Kernel> make_row_kernel(const KernelRequest& request, const Row& row) {
  const std::int64_t width = request.inputs[0].shape[-1];
  const std::int64_t rows = width == 0 ? 0 : request.inputs[0].shape.size() / width;
  const bool has_second = request.inputs.size() > 1;
  return make_kernel([=](const KernelArguments& arguments) {
    const T* first = arguments.input<T>(0);
    const T* second = has_second ? arguments.input<T>(1) : nullptr;
    T* out = arguments.output<T>(0);
    for_row_blocks(*arguments.workers, rows, width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        row(first + i * width, has_second ? second + i * width : nullptr, out + i * width, width);
      }
    });
  });
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_softmax(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_row_kernel<T>(request, [](const T* x, const T*, T* out, std::int64_t width) {
      const T sum = exponentials(x, width, largest_of(x, width), out);
      scale_row(out, width, 1 / sum);
    });
  });
}

std::unique_ptr<Kernel> make_cpu_softmax_gradient(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_row_kernel<T>(request, [](const T* probability, const T* upstream, T* out, std::int64_t width) {
      const T mean = sum_of<T>(width, [&](std::int64_t i) { return probability[i] * upstream[i]; });
#pragma omp simd
      for (std::int64_t i = 0; i < width; ++i) out[i] = probability[i] * (upstream[i] - mean);
    });
  });
}

std::unique_ptr<Kernel> make_cpu_log_softmax(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_row_kernel<T>(request, [](const T* x, const T*, T* out, std::int64_t width) {
      const T largest = largest_of(x, width);
      // Not exponentials(): `out` may be `x`, which is read again.
      const T sum = sum_of<T>(width, [&](std::int64_t i) { return exponential(x[i] - largest); });
      const T shift = largest + std::log(std::max(sum, static_cast<T>(kLowestSum)));
#pragma omp simd
      for (std::int64_t i = 0; i < width; ++i) out[i] = x[i] - shift;
    });
  });
}

}  // namespace jari
