// Pointwise kernels of one operand (and gelu's gradient, of two of one shape). The result may lie over the operand.

#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/vector_math.hpp"
#include "framework/ops/attributes.hpp"

namespace jari {

namespace {

using cpu::exponential;
using cpu::for_blocks;
using cpu::hyperbolic_tangent;
using cpu::kBlock;
using cpu::make_kernel;

template <class Out, class In, class Function>
std::unique_ptr<Kernel> unary_kernel(const KernelRequest& request, Function function) {
  const std::int64_t size = request.outputs[0].shape.size();
  return make_kernel([size, function](const KernelArguments& arguments) {
    const In* const x = arguments.input<In>(0);
    Out* const out = arguments.output<Out>(0);
    for_blocks(*arguments.workers, size, kBlock, [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) out[i] = function(x[i]);
    });
  });
}

template <class Function>
std::unique_ptr<Kernel> real_kernel(const KernelRequest& request, Function function) {
  return cpu::for_real(request, request.inputs[0].dtype,
                       [&]<class T>() { return unary_kernel<T, T>(request, function); });
}

template <class Function>
std::unique_ptr<Kernel> number_kernel(const KernelRequest& request, Function function) {
  return cpu::for_number(request, request.inputs[0].dtype,
                         [&]<class T>() { return unary_kernel<T, T>(request, function); });
}

// What C++ leaves undefined has a value here: NaN gives 0, what is out of range the nearest integer.
template <class Out, class In>
Out convert(In x) {
  if constexpr (std::is_same_v<Out, std::uint8_t>) {
    return x != In(0);
  } else if constexpr (std::is_same_v<Out, std::int32_t> && std::is_floating_point_v<In>) {
    constexpr In kLimit = In(2147483648.0);
    const In largest = std::is_same_v<In, float> ? In(2147483520.0) : In(2147483647.0);  // below 2^31
    const In clamped = x < -kLimit ? -kLimit : (x > largest ? largest : x);
    return static_cast<std::int32_t>(clamped == clamped ? clamped : In(0));
  } else {
    return static_cast<Out>(x);
  }
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_logical_not(const KernelRequest& request) {
  return unary_kernel<std::uint8_t, std::uint8_t>(request,
                                                  [](std::uint8_t x) { return static_cast<std::uint8_t>(x ^ 1); });
}

std::unique_ptr<Kernel> make_cpu_negate(const KernelRequest& request) {
  return number_kernel(request, [](auto x) { return -x; });
}

std::unique_ptr<Kernel> make_cpu_abs(const KernelRequest& request) {
  return number_kernel(request, [](auto x) { return std::abs(x); });
}

std::unique_ptr<Kernel> make_cpu_exp(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return exponential(x); });
}

std::unique_ptr<Kernel> make_cpu_log(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return std::log(x); });
}

std::unique_ptr<Kernel> make_cpu_sqrt(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return std::sqrt(x); });
}

std::unique_ptr<Kernel> make_cpu_sin(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return std::sin(x); });
}

std::unique_ptr<Kernel> make_cpu_cos(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return std::cos(x); });
}

std::unique_ptr<Kernel> make_cpu_tanh(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return hyperbolic_tangent(x); });
}

std::unique_ptr<Kernel> make_cpu_sigmoid(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return decltype(x)(1) / (decltype(x)(1) + exponential(-x)); });
}

std::unique_ptr<Kernel> make_cpu_erf(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return std::erf(x); });
}

std::unique_ptr<Kernel> make_cpu_gelu(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return cpu::gelu(x, cpu::gelu_share(x)); });
}

std::unique_ptr<Kernel> make_cpu_gelu_gradient(const KernelRequest& request) {
  const std::int64_t size = request.outputs[0].shape.size();
  return cpu::for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([size](const KernelArguments& arguments) {
      const T *const x = arguments.input<T>(0), *const dy = arguments.input<T>(1);
      T* const out = arguments.output<T>(0);
      for_blocks(*arguments.workers, size, kBlock, [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i) out[i] = dy[i] * cpu::gelu_slope(x[i], cpu::gelu_share(x[i]));
      });
    });
  });
}

// Of one rank.
std::unique_ptr<Kernel> make_cpu_all_reduce(const KernelRequest& request) {
  return real_kernel(request, [](auto x) { return x; });
}

std::unique_ptr<Kernel> make_cpu_cast(const KernelRequest& request) {
  return cpu::for_any(request, request.inputs[0].dtype, [&]<class In>() {
    return cpu::for_any(request, request.outputs[0].dtype, [&]<class Out>() {
      return unary_kernel<Out, In>(request, [](In x) { return convert<Out>(x); });
    });
  });
}

}  // namespace jari
