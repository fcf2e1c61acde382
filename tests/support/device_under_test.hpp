#pragma once
// Suites that are compiled into several binaries, each for another device.

#include <memory>

#include "framework/backend/device.hpp"

namespace jari::test {

// Null: the host. Each such binary has one source that defines it.
std::shared_ptr<Device> device_under_test();

}  // namespace jari::test
