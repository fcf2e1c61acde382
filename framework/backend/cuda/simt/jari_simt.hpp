#pragma once
// The execution model that kernels are written for, on a real GPU. A kernel source says `#include <jari_simt.hpp>`; the
// include path decides whether it gets this header or tests/cuda/emulation/jari_simt.hpp, which runs the same source as
// plain C++. Kernels use CUDA's own spelling; what is spelled otherwise in the two models stands here.

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include "framework/base/error.hpp"

// A kernel's parameter that threads look into where it lies, instead of in a copy of their own.
#define JARI_GRID_CONSTANT const __grid_constant__

// A static array of N elements in shared memory.
#define JARI_SHARED(T, name, N) __shared__ T name[N]

// The dynamic shared memory of the launch, aligned to 16 bytes. Declared once as bytes: `extern __shared__` arrays of
// different types under one name do not compile.
#define JARI_DYNAMIC_SHARED(T, name)                                   \
  extern __shared__ __align__(16) unsigned char jari_dynamic_shared[]; \
  T* const name = reinterpret_cast<T*>(jari_dynamic_shared)

namespace simt {

using Stream = cudaStream_t;

// A kernel gets this much shared memory, static and dynamic together, without asking.
inline constexpr std::size_t kSharedBytesUnasked = 48 * 1024;

inline void check_launch(cudaError_t status) {
  if (status != cudaSuccess) throw jari::DeviceError(std::string("launching a kernel: ") + cudaGetErrorString(status));
}

// Enqueues `kernel` on `stream`, nullptr is the default stream. Arguments are converted to the kernel's parameters.
// Throws DeviceError if the launch is refused; what goes wrong while the kernel runs shows in a later call.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t dynamic_shared_bytes, Stream stream,
            Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "a kernel is launched with one argument for each parameter");
  static_assert((std::is_trivially_copyable_v<Parameters> && ...), "a kernel's parameters are copied as bytes");
  if (dynamic_shared_bytes > kSharedBytesUnasked) {
    check_launch(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(dynamic_shared_bytes)));
  }
  kernel<<<grid, block, dynamic_shared_bytes, stream>>>(arguments...);
  check_launch(cudaGetLastError());
}

}  // namespace simt
