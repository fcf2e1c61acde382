#pragma once
// A card, through the CUDA runtime.

#include <memory>

#include "framework/backend/device.hpp"

namespace jari::cuda {

// Number of cards that can be used. DeviceError where the runtime finds no driver, or one that is too old.
int count_cards();

// DeviceError where the card can not be used.
std::shared_ptr<Device> open_card(int index);

}  // namespace jari::cuda
