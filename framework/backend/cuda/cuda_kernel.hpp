#pragma once
// What the CUDA kernels share. A source under kernels/ is compiled twice: by nvcc for the cards, and as plain C++
// against the emulation under tests/cuda/emulation, which is what <jari_simt.hpp> then names.
//
// The trial axis is blockIdx.y: a kernel works on one trial's elements as if there were no other, and
// `Operand::of_trial()` says where they lie. What one block of threads does depends on shapes alone, and sums are taken
// in an order that shapes alone fix, so the bits of a trial do not depend on how many others run beside it.

#include <jari_simt.hpp>
#include <memory>
#include <utility>

#include "framework/backend/cuda/stream_queue.hpp"
#include "framework/backend/element_types.hpp"
#include "framework/base/error.hpp"

namespace jari {

// `std::unique_ptr<DeviceKernel> make_cuda_add(const KernelRequest&)` and so on: one an op.
#define JARI_OP(name) std::unique_ptr<DeviceKernel> make_cuda_##name(const KernelRequest& request);
#include "framework/ops/ops.def"
#undef JARI_OP

template <>
struct DeviceName<DeviceKernel> {
  static constexpr const char* text = "CUDA";
};

namespace cuda {

// Passed to kernels by value.
template <class T>
struct Operand {
  T* data = nullptr;
  std::int64_t stride = 0;  // elements from one trial to the next

  __device__ T* of_trial() const { return data + blockIdx.y * stride; }
  __device__ T* of_trial(std::int64_t trial) const { return data + trial * stride; }
};

// What a launch is given, with types.
class Call {
 public:
  Call(const DeviceArguments& arguments, DeviceQueue& queue)
      : arguments_(arguments), stream_(static_cast<StreamQueue&>(queue).stream()) {}

  template <class T>
  Operand<const T> input(int i) const {
    return typed<const T>(arguments_.inputs[i]);
  }
  template <class T>
  Operand<T> output(int i) const {
    return typed<T>(arguments_.outputs[i]);
  }
  // The part of the workspace from `offset` on, `bytes_a_trial` of it a trial.
  template <class T>
  Operand<T> workspace(std::size_t offset, std::size_t bytes_a_trial) const {
    return typed<T>({static_cast<std::byte*>(arguments_.workspace) + offset, bytes_a_trial});
  }
  int trials() const { return arguments_.trials; }
  const std::int32_t* active() const { return arguments_.active; }
  simt::Stream stream() const { return stream_; }

  // Launches `kernel` with `blocks` x trials blocks of `threads` threads; nothing where there is nothing to do.
  template <class... Parameters, class... Values>
  void launch(void (*kernel)(Parameters...), std::int64_t blocks, unsigned threads, std::size_t shared_bytes,
              Values... values) const {
    if (blocks == 0 || trials() == 0) return;
    simt::launch(kernel, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(trials())), dim3(threads),
                 shared_bytes, stream_, values...);
  }

 private:
  template <class T>
  static Operand<T> typed(const DeviceOperand& operand) {
    return {static_cast<T*>(operand.data), static_cast<std::int64_t>(operand.stride / sizeof(T))};
  }

  const DeviceArguments& arguments_;
  simt::Stream stream_;
};

template <class Launch>
class FunctionKernel final : public DeviceKernel {
 public:
  FunctionKernel(Launch launch, std::size_t workspace) : launch_(std::move(launch)), workspace_(workspace) {}
  std::size_t workspace_bytes(int trials) const override { return workspace_ * static_cast<std::size_t>(trials); }
  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override { launch_(Call(arguments, queue)); }

 private:
  Launch launch_;
  std::size_t workspace_;
};

// A kernel from `void launch(const Call&)`, which captures by value what it needs of the request.
template <class Launch>
std::unique_ptr<DeviceKernel> make_kernel(Launch launch, std::size_t workspace_bytes_a_trial = 0) {
  return std::make_unique<FunctionKernel<Launch>>(std::move(launch), workspace_bytes_a_trial);
}

inline std::int64_t blocks_of(std::int64_t count, std::int64_t block) { return (count + block - 1) / block; }

// Stretches of a workspace begin at multiples of this.
inline std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace cuda
}  // namespace jari
