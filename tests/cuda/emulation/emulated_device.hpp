#pragma once
// A Device whose memory is the host's and whose kernels are the CUDA backend's own, run by the emulation.

#include <memory>

#include "framework/backend/device.hpp"

namespace jari::test {

struct EmulatedDeviceOptions {
  std::size_t memory = std::size_t{1} << 30;  // that it says it has
};

std::shared_ptr<Device> make_emulated_device(const EmulatedDeviceOptions& options = {});

}  // namespace jari::test
