#pragma once
// Where an experiment is trained.

#include <memory>
#include <string>
#include <vector>

#include "framework/backend/device_module.hpp"
#include "framework/train/experiment.hpp"

namespace jari {

// The cards; none: the CPU. Throws DeviceError where the spec asks for a card and there is none, and for a precision
// that the CPU has not.
std::vector<std::shared_ptr<Device>> devices_of(const Experiment& experiment, const Cards& cards = Cards::get());

// "cpu", or "cuda".
std::string name_of_devices(const std::vector<std::shared_ptr<Device>>& devices);

}  // namespace jari
