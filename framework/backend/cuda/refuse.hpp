#pragma once
// What kernels do not serve. (Apart from them: nvcc does not take fmt's headers.)

#include "framework/backend/kernel.hpp"

namespace jari::cuda {

// Throws DeviceError.
[[noreturn]] void refuse(const KernelRequest& request, DType dtype);

}  // namespace jari::cuda
