// Pointwise kernels of two operands and more. The result may lie over an operand of its own type.

#include <type_traits>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/strided_loop.hpp"

namespace jari {

namespace {

using cpu::for_blocks;
using cpu::kBlock;
using cpu::make_kernel;
using cpu::StridedLoop;

// `run` with the flag as a compile-time constant.
template <class Run>
void with_constant(bool flag, const Run& run) {
  flag ? run(std::true_type()) : run(std::false_type());
}

// out[i] = function(left, right) over a stretch along which an operand moves or stands still.
template <class Out, class In, class Function>
void apply(Out* out, const In* left, bool left_moves, const In* right, bool right_moves, std::int64_t count,
           const Function& function) {
  with_constant(left_moves, [&](auto moves_l) {
    with_constant(right_moves, [&](auto moves_r) {
#pragma omp simd
      for (std::int64_t i = 0; i < count; ++i) out[i] = function(left[moves_l ? i : 0], right[moves_r ? i : 0]);
    });
  });
}

template <class Out, class In, class Function>
std::unique_ptr<Kernel> binary_kernel(const KernelRequest& request, Function function) {
  const Shape& shape = request.outputs[0].shape;
  const StridedLoop<2> loop(shape, {cpu::broadcast_strides(request.inputs[0].shape, shape),
                                    cpu::broadcast_strides(request.inputs[1].shape, shape)});
  return make_kernel([loop, function](const KernelArguments& arguments) {
    const In* const left = arguments.input<In>(0);
    const In* const right = arguments.input<In>(1);
    Out* const out = arguments.output<Out>(0);
    const bool left_moves = loop.inner_stride(0) != 0, right_moves = loop.inner_stride(1) != 0;
    for_blocks(*arguments.workers, loop.size(), kBlock, [&](std::int64_t begin, std::int64_t end) {
      loop.run(begin, end, [&](std::int64_t position, const auto& offsets, std::int64_t count) {
        apply(out + position, left + offsets[0], left_moves, right + offsets[1], right_moves, count, function);
      });
    });
  });
}

template <class Function>
std::unique_ptr<Kernel> arithmetic_kernel(const KernelRequest& request, Function function) {
  return cpu::for_number(request, request.inputs[0].dtype,
                         [&]<class T>() { return binary_kernel<T, T>(request, function); });
}

template <class T>
std::unique_ptr<Kernel> select_kernel(const KernelRequest& request) {
  const Shape& shape = request.outputs[0].shape;
  const StridedLoop<3> loop(shape, {cpu::broadcast_strides(request.inputs[0].shape, shape),
                                    cpu::broadcast_strides(request.inputs[1].shape, shape),
                                    cpu::broadcast_strides(request.inputs[2].shape, shape)});
  return make_kernel([loop](const KernelArguments& arguments) {
    const std::uint8_t* const condition = arguments.input<std::uint8_t>(0);
    const T* const if_true = arguments.input<T>(1);
    const T* const if_false = arguments.input<T>(2);
    T* const out = arguments.output<T>(0);
    const auto stretch = [&](std::int64_t position, const auto& offsets, std::int64_t count) {
      with_constant(loop.inner_stride(0) != 0, [&](auto moves_c) {
        with_constant(loop.inner_stride(1) != 0, [&](auto moves_t) {
          with_constant(loop.inner_stride(2) != 0, [&](auto moves_f) {
            const std::uint8_t* const c = condition + offsets[0];
            const T *const t = if_true + offsets[1], *const f = if_false + offsets[2];
            T* const to = out + position;
#pragma omp simd
            for (std::int64_t i = 0; i < count; ++i) {
              const T a = t[moves_t ? i : 0], b = f[moves_f ? i : 0];
              to[i] = c[moves_c ? i : 0] ? a : b;
            }
          });
        });
      });
    };
    for_blocks(*arguments.workers, loop.size(), kBlock,
               [&](std::int64_t begin, std::int64_t end) { loop.run(begin, end, stretch); });
  });
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_add(const KernelRequest& request) {
  return arithmetic_kernel(request, [](auto a, auto b) { return a + b; });
}

std::unique_ptr<Kernel> make_cpu_subtract(const KernelRequest& request) {
  return arithmetic_kernel(request, [](auto a, auto b) { return a - b; });
}

std::unique_ptr<Kernel> make_cpu_multiply(const KernelRequest& request) {
  return arithmetic_kernel(request, [](auto a, auto b) { return a * b; });
}

std::unique_ptr<Kernel> make_cpu_divide(const KernelRequest& request) {
  return cpu::for_real(request, request.inputs[0].dtype,
                       [&]<class T>() { return binary_kernel<T, T>(request, [](T a, T b) { return a / b; }); });
}

// A NaN on either side is kept, so that a divergence shows.
std::unique_ptr<Kernel> make_cpu_maximum(const KernelRequest& request) {
  return arithmetic_kernel(request, [](auto a, auto b) { return a < b || b != b ? b : a; });
}

std::unique_ptr<Kernel> make_cpu_minimum(const KernelRequest& request) {
  return arithmetic_kernel(request, [](auto a, auto b) { return b < a || b != b ? b : a; });
}

std::unique_ptr<Kernel> make_cpu_equal(const KernelRequest& request) {
  return cpu::for_any(request, request.inputs[0].dtype, [&]<class T>() {
    return binary_kernel<std::uint8_t, T>(request, [](T a, T b) { return static_cast<std::uint8_t>(a == b); });
  });
}

std::unique_ptr<Kernel> make_cpu_less(const KernelRequest& request) {
  return cpu::for_number(request, request.inputs[0].dtype, [&]<class T>() {
    return binary_kernel<std::uint8_t, T>(request, [](T a, T b) { return static_cast<std::uint8_t>(a < b); });
  });
}

std::unique_ptr<Kernel> make_cpu_logical_and(const KernelRequest& request) {
  return binary_kernel<std::uint8_t, std::uint8_t>(
      request, [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a & b); });
}

std::unique_ptr<Kernel> make_cpu_select(const KernelRequest& request) {
  return cpu::for_any(request, request.outputs[0].dtype, [&]<class T>() { return select_kernel<T>(request); });
}

}  // namespace jari
