// Pointwise kernels of one operand (and gelu's gradient, of two of one shape). The result may lie over the operand.

#include <cmath>
#include <type_traits>

#include "framework/backend/cuda/pointwise.hpp"
#include "framework/backend/cuda/real_math.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class Out, class In, class Function>
struct Unary {
  Operand<const In> x;
  Operand<Out> out;
  Function function;
  __device__ void operator()(std::int64_t i) const { out.of_trial()[i] = function(x.of_trial()[i]); }
};

template <class Out, class In, class Function>
std::unique_ptr<DeviceKernel> unary_kernel(const KernelRequest& request, Function function) {
  const std::int64_t size = request.outputs[0].shape.size();
  return make_kernel([=](const Call& call) {
    launch_elements(call, size, Unary<Out, In, Function>{call.input<In>(0), call.output<Out>(0), function});
  });
}

template <class Function>
std::unique_ptr<DeviceKernel> real_kernel(const KernelRequest& request, Function function) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() { return unary_kernel<T, T>(request, function); });
}

template <class Function>
std::unique_ptr<DeviceKernel> number_kernel(const KernelRequest& request, Function function) {
  return for_number(request, request.inputs[0].dtype, [&]<class T>() { return unary_kernel<T, T>(request, function); });
}

struct LogicalNot {
  __device__ std::uint8_t operator()(std::uint8_t x) const { return x ^ 1; }
};
struct Same {
  template <class T>
  __device__ T operator()(T x) const {
    return x;
  }
};
struct Negate {
  template <class T>
  __device__ T operator()(T x) const {
    return -x;
  }
};
struct Absolute {
  template <class T>
  __device__ T operator()(T x) const {
    return x < 0 ? -x : (x == 0 ? T(0) : x);
  }
};
struct Exponential {
  template <class T>
  __device__ T operator()(T x) const {
    return exponential(x);
  }
};
struct Logarithm {
  template <class T>
  __device__ T operator()(T x) const {
    return logarithm(x);
  }
};
struct SquareRoot {
  template <class T>
  __device__ T operator()(T x) const {
    return square_root(x);
  }
};
struct Sine {
  template <class T>
  __device__ T operator()(T x) const {
    return sine(x);
  }
};
struct Cosine {
  template <class T>
  __device__ T operator()(T x) const {
    return cosine(x);
  }
};
struct HyperbolicTangent {
  template <class T>
  __device__ T operator()(T x) const {
    return hyperbolic_tangent(x);
  }
};
struct Sigmoid {
  template <class T>
  __device__ T operator()(T x) const {
    return T(1) / (T(1) + exponential(-x));
  }
};
struct ErrorFunction {
  template <class T>
  __device__ T operator()(T x) const {
    return error_function(x);
  }
};
struct Gelu {
  template <class T>
  __device__ T operator()(T x) const {
    return gelu(x, gelu_tanh(x));
  }
};

template <class T>
struct GeluGradient {
  Operand<const T> x, upstream;
  Operand<T> out;
  __device__ void operator()(std::int64_t i) const {
    const T at = x.of_trial()[i];
    out.of_trial()[i] = upstream.of_trial()[i] * gelu_slope(at, gelu_tanh(at));
  }
};

// What C++ leaves undefined has a value here: NaN gives 0, what is out of range the nearest integer.
template <class Out>
struct Convert {
  template <class In>
  __device__ Out operator()(In x) const {
    if constexpr (std::is_same_v<Out, std::uint8_t>) {
      return x != In(0);
    } else if constexpr (std::is_same_v<Out, std::int32_t> && std::is_floating_point_v<In>) {
      constexpr In kLimit = In(2147483648.0);
      constexpr In kLargest = std::is_same_v<In, float> ? In(2147483520.0) : In(2147483647.0);  // below 2^31
      const In clamped = x < -kLimit ? -kLimit : (x > kLargest ? kLargest : x);
      return static_cast<std::int32_t>(clamped == clamped ? clamped : In(0));
    } else {
      return static_cast<Out>(x);
    }
  }
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_logical_not(const KernelRequest& request) {
  return unary_kernel<std::uint8_t, std::uint8_t>(request, LogicalNot());
}
std::unique_ptr<DeviceKernel> make_cuda_negate(const KernelRequest& request) {
  return number_kernel(request, Negate());
}
std::unique_ptr<DeviceKernel> make_cuda_abs(const KernelRequest& request) { return number_kernel(request, Absolute()); }
std::unique_ptr<DeviceKernel> make_cuda_exp(const KernelRequest& request) {
  return real_kernel(request, Exponential());
}
std::unique_ptr<DeviceKernel> make_cuda_log(const KernelRequest& request) { return real_kernel(request, Logarithm()); }
std::unique_ptr<DeviceKernel> make_cuda_sqrt(const KernelRequest& request) {
  return real_kernel(request, SquareRoot());
}
std::unique_ptr<DeviceKernel> make_cuda_sin(const KernelRequest& request) { return real_kernel(request, Sine()); }
std::unique_ptr<DeviceKernel> make_cuda_cos(const KernelRequest& request) { return real_kernel(request, Cosine()); }
std::unique_ptr<DeviceKernel> make_cuda_tanh(const KernelRequest& request) {
  return real_kernel(request, HyperbolicTangent());
}
std::unique_ptr<DeviceKernel> make_cuda_sigmoid(const KernelRequest& request) {
  return real_kernel(request, Sigmoid());
}
std::unique_ptr<DeviceKernel> make_cuda_erf(const KernelRequest& request) {
  return real_kernel(request, ErrorFunction());
}
std::unique_ptr<DeviceKernel> make_cuda_gelu(const KernelRequest& request) { return real_kernel(request, Gelu()); }

std::unique_ptr<DeviceKernel> make_cuda_gelu_gradient(const KernelRequest& request) {
  const std::int64_t size = request.outputs[0].shape.size();
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      launch_elements(call, size, GeluGradient<T>{call.input<T>(0), call.input<T>(1), call.output<T>(0)});
    });
  });
}

// Of one rank; that of several is the planner's.
std::unique_ptr<DeviceKernel> make_cuda_all_reduce(const KernelRequest& request) {
  return real_kernel(request, Same());
}

std::unique_ptr<DeviceKernel> make_cuda_cast(const KernelRequest& request) {
  return for_any(request, request.inputs[0].dtype, [&]<class In>() {
    return for_any(request, request.outputs[0].dtype,
                   [&]<class Out>() { return unary_kernel<Out, In>(request, Convert<Out>()); });
  });
}

}  // namespace jari
