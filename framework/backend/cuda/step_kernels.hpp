#pragma once
// What a step needs besides its ops, as Device offers it.

#include <memory>
#include <vector>

#include "framework/backend/device.hpp"

namespace jari::cuda {

// adam_update of several nodes (Device::make_joint_kernel).
std::unique_ptr<DeviceKernel> make_joint_adam_update(const std::vector<KernelRequest>& requests);

std::unique_ptr<DeviceKernel> make_guard(const std::vector<DType>& inputs);
std::unique_ptr<DeviceKernel> make_copy(std::size_t bytes);

}  // namespace jari::cuda
