#pragma once
// The seam to a library's attention for long sequences: cuDNN's on a card (long_attention.cpp), none in the emulation
// (tests/cuda).

#include <memory>

#include "framework/backend/device.hpp"

namespace jari::cuda {

// What is to run the op attention or attention_gradient: `own`, or a library's kernel where that serves the request and
// takes less time on this card.
std::unique_ptr<DeviceKernel> faster_attention(const KernelRequest& request, std::unique_ptr<DeviceKernel> own);

}  // namespace jari::cuda
