// The one thing of this module that the program sees.

#include "framework/backend/cuda/cuda_device.hpp"
#include "framework/backend/device_module.hpp"

extern "C" __attribute__((visibility("default"))) const jari::DeviceModule* jari_device_module() {
  static const jari::DeviceModule module = {JARI_DEVICE_ABI, jari::cuda::count_cards, jari::cuda::open_card};
  return &module;
}
