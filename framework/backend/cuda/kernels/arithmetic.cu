// Pointwise kernels of two operands and more, one thread an element. The result may lie over an operand of its own type
// and shape.

#include "framework/backend/cuda/indexing.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class Out, class In, class Function>
struct Dense {
  Operand<const In> left, right;
  Operand<Out> out;
  Function function;
  __device__ void operator()(std::int64_t i) const {
    out.of_trial()[i] = function(left.of_trial()[i], right.of_trial()[i]);
  }
};

template <class Out, class In, class Function>
struct Broadcast {
  Operand<const In> left, right;
  Operand<Out> out;
  StridedAxes<2> axes;
  Function function;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[2];
    strided_offsets(axes, i, at);
    out.of_trial()[i] = function(left.of_trial()[at[0]], right.of_trial()[at[1]]);
  }
};

template <class Out, class In, class Function>
std::unique_ptr<DeviceKernel> binary_kernel(const KernelRequest& request, Function function) {
  const Shape& shape = request.outputs[0].shape;
  const std::int64_t size = shape.size();
  const StridedAxes<2> axes = strided_axes<2>(
      shape, {broadcast_strides(request.inputs[0].shape, shape), broadcast_strides(request.inputs[1].shape, shape)});
  if (all_dense(axes)) {
    return make_kernel([=](const Call& call) {
      launch_elements(call, size,
                      Dense<Out, In, Function>{call.input<In>(0), call.input<In>(1), call.output<Out>(0), function});
    });
  }
  return make_kernel([=](const Call& call) {
    launch_elements(
        call, size,
        Broadcast<Out, In, Function>{call.input<In>(0), call.input<In>(1), call.output<Out>(0), axes, function});
  });
}

template <class Function>
std::unique_ptr<DeviceKernel> arithmetic_kernel(const KernelRequest& request, Function function) {
  return for_number(request, request.inputs[0].dtype,
                    [&]<class T>() { return binary_kernel<T, T>(request, function); });
}

struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a * b;
  }
};
struct Divide {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a / b;
  }
};
// A NaN on either side is kept, so that a divergence shows.
struct Maximum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b || b != b ? b : a;
  }
};
struct Minimum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b < a || b != b ? b : a;
  }
};
struct Equal {
  template <class T>
  __device__ std::uint8_t operator()(T a, T b) const {
    return a == b;
  }
};
struct Less {
  template <class T>
  __device__ std::uint8_t operator()(T a, T b) const {
    return a < b;
  }
};
struct LogicalAnd {
  __device__ std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const { return a & b; }
};

template <class T>
struct DenseSelect {
  Operand<const std::uint8_t> condition;
  Operand<const T> if_true, if_false;
  Operand<T> out;
  __device__ void operator()(std::int64_t i) const {
    const T a = if_true.of_trial()[i], b = if_false.of_trial()[i];
    out.of_trial()[i] = condition.of_trial()[i] ? a : b;
  }
};

template <class T>
struct BroadcastSelect {
  Operand<const std::uint8_t> condition;
  Operand<const T> if_true, if_false;
  Operand<T> out;
  StridedAxes<3> axes;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[3];
    strided_offsets(axes, i, at);
    const T a = if_true.of_trial()[at[1]], b = if_false.of_trial()[at[2]];
    out.of_trial()[i] = condition.of_trial()[at[0]] ? a : b;
  }
};

template <class T>
std::unique_ptr<DeviceKernel> select_kernel(const KernelRequest& request) {
  const Shape& shape = request.outputs[0].shape;
  const std::int64_t size = shape.size();
  const StridedAxes<3> axes = strided_axes<3>(
      shape, {broadcast_strides(request.inputs[0].shape, shape), broadcast_strides(request.inputs[1].shape, shape),
              broadcast_strides(request.inputs[2].shape, shape)});
  if (all_dense(axes)) {
    return make_kernel([=](const Call& call) {
      launch_elements(
          call, size,
          DenseSelect<T>{call.input<std::uint8_t>(0), call.input<T>(1), call.input<T>(2), call.output<T>(0)});
    });
  }
  return make_kernel([=](const Call& call) {
    launch_elements(
        call, size,
        BroadcastSelect<T>{call.input<std::uint8_t>(0), call.input<T>(1), call.input<T>(2), call.output<T>(0), axes});
  });
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_add(const KernelRequest& request) { return arithmetic_kernel(request, Add()); }
std::unique_ptr<DeviceKernel> make_cuda_subtract(const KernelRequest& request) {
  return arithmetic_kernel(request, Subtract());
}
std::unique_ptr<DeviceKernel> make_cuda_multiply(const KernelRequest& request) {
  return arithmetic_kernel(request, Multiply());
}
std::unique_ptr<DeviceKernel> make_cuda_divide(const KernelRequest& request) {
  return for_real(request, request.inputs[0].dtype, [&]<class T>() { return binary_kernel<T, T>(request, Divide()); });
}
std::unique_ptr<DeviceKernel> make_cuda_maximum(const KernelRequest& request) {
  return arithmetic_kernel(request, Maximum());
}
std::unique_ptr<DeviceKernel> make_cuda_minimum(const KernelRequest& request) {
  return arithmetic_kernel(request, Minimum());
}
std::unique_ptr<DeviceKernel> make_cuda_equal(const KernelRequest& request) {
  return for_any(request, request.inputs[0].dtype,
                 [&]<class T>() { return binary_kernel<std::uint8_t, T>(request, Equal()); });
}
std::unique_ptr<DeviceKernel> make_cuda_less(const KernelRequest& request) {
  return for_number(request, request.inputs[0].dtype,
                    [&]<class T>() { return binary_kernel<std::uint8_t, T>(request, Less()); });
}
std::unique_ptr<DeviceKernel> make_cuda_logical_and(const KernelRequest& request) {
  return binary_kernel<std::uint8_t, std::uint8_t>(request, LogicalAnd());
}
std::unique_ptr<DeviceKernel> make_cuda_select(const KernelRequest& request) {
  return for_any(request, request.outputs[0].dtype, [&]<class T>() { return select_kernel<T>(request); });
}

}  // namespace jari
