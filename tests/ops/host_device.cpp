#include "tests/support/device_under_test.hpp"

namespace jari::test {

std::shared_ptr<Device> device_under_test() { return nullptr; }

}  // namespace jari::test
