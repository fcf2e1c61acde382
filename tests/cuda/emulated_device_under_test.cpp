#include "tests/cuda/emulation/emulated_device.hpp"
#include "tests/support/device_under_test.hpp"

namespace jari::test {

std::shared_ptr<Device> device_under_test() {
  static const std::shared_ptr<Device> device = make_emulated_device();
  return device;
}

}  // namespace jari::test
