#include "tests/ops/op_case.hpp"

namespace jari::test {

std::shared_ptr<Device> device_under_test() { return nullptr; }

}  // namespace jari::test
