#include "framework/ops/optimizer_step.hpp"

#include <cmath>

#include "framework/backend/cpu/cpu_kernel.hpp"

namespace jari {

namespace {

using namespace cpu;

// The loops say `omp simd` because outputs may be the inputs' own memory, element by element.

template <class T>
void sgd(const KernelArguments& arguments, std::int64_t count, const SgdAttributes& options) {
  const T *parameter = arguments.input<T>(0), *gradient = arguments.input<T>(1);
  const T rate = *arguments.input<T>(2), decay = *arguments.input<T>(3);
  T* out = arguments.output<T>(0);
  if (options.momentum == 0) {
    for_blocks(*arguments.workers, count, kBlock, [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) out[i] = parameter[i] - rate * (gradient[i] + decay * parameter[i]);
    });
    return;
  }
  const T *momentum = arguments.input<T>(4), factor = static_cast<T>(options.momentum);
  T* momentum_out = arguments.output<T>(1);
  const bool nesterov = options.nesterov;
  for_blocks(*arguments.workers, count, kBlock, [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      const T slope = gradient[i] + decay * parameter[i];
      const T velocity = factor * momentum[i] + slope;
      out[i] = parameter[i] - rate * (nesterov ? slope + factor * velocity : velocity);
      momentum_out[i] = velocity;
    }
  });
}

template <class T>
void adam(const KernelArguments& arguments, std::int64_t count, const AdamAttributes& options) {
  const T *parameter = arguments.input<T>(0), *gradient = arguments.input<T>(1);
  const T *first = arguments.input<T>(2), *second = arguments.input<T>(3);
  T *out = arguments.output<T>(0), *first_out = arguments.output<T>(1), *second_out = arguments.output<T>(2);
  const double rate = *arguments.input<T>(4), decay = *arguments.input<T>(5);
  const double steps = *arguments.input<std::int32_t>(6) + 1.0;
  const T keep = static_cast<T>(options.decoupled_decay ? 1 - rate * decay : 1);
  const T slope_decay = static_cast<T>(options.decoupled_decay ? 0 : decay);
  const T step_size = static_cast<T>(rate / (1 - std::pow(options.beta1, steps)));
  const T correction = static_cast<T>(std::sqrt(1 - std::pow(options.beta2, steps)));
  const T beta1 = static_cast<T>(options.beta1), rest1 = static_cast<T>(1 - options.beta1);
  const T beta2 = static_cast<T>(options.beta2), rest2 = static_cast<T>(1 - options.beta2);
  const T epsilon = static_cast<T>(options.epsilon);
  for_blocks(*arguments.workers, count, kBlock, [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      const T slope = gradient[i] + slope_decay * parameter[i];
      const T average = beta1 * first[i] + rest1 * slope;
      const T square = beta2 * second[i] + rest2 * slope * slope;
      out[i] = keep * parameter[i] - step_size * average / (std::sqrt(square) / correction + epsilon);
      first_out[i] = average;
      second_out[i] = square;
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_sgd_update(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const auto options = request.attributes.as<SgdAttributes>();
    const std::int64_t count = request.inputs[0].shape.size();
    return make_kernel([=](const KernelArguments& arguments) { sgd<T>(arguments, count, options); });
  });
}

std::unique_ptr<Kernel> make_cpu_adam_update(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    const auto options = request.attributes.as<AdamAttributes>();
    const std::int64_t count = request.inputs[0].shape.size();
    return make_kernel([=](const KernelArguments& arguments) { adam<T>(arguments, count, options); });
  });
}

}  // namespace jari
