#pragma once
// From an op to its CUDA kernel. The table comes from ops.def, so a missing kernel is a link error.

#include <memory>

#include "framework/backend/device.hpp"

namespace jari::cuda {

std::unique_ptr<DeviceKernel> make_kernel_of(const KernelRequest& request);

}  // namespace jari::cuda
