#pragma once
// From an op to its CUDA kernel. The table comes from ops.def, so a missing kernel is a link error.

#include <memory>

#include "framework/backend/device.hpp"

namespace jari::cuda {

std::unique_ptr<DeviceKernel> make_kernel_of(const KernelRequest& request);

// Device::make_joint_kernel().
std::unique_ptr<DeviceKernel> make_joint_kernel_of(const std::vector<KernelRequest>& requests);

}  // namespace jari::cuda
