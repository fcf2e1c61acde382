#pragma once
// Data of the host that kernels only read, in a device's memory.

#include "framework/backend/device.hpp"

namespace jari {

// One copy however many programs read them (training, evaluations), gone with the last that has it. `elements` stay as
// they are as long as it lives. Returns when they are there.
Device::Memory resident_copy(const std::shared_ptr<Device>& device, const void* elements, std::size_t bytes,
                             DeviceQueue& queue);

}  // namespace jari
