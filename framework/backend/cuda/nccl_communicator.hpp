#pragma once
// Sums between cards, by NCCL.

#include <memory>
#include <vector>

#include "framework/backend/communicator.hpp"

namespace jari::cuda {

// One for each of these cards, in their order. DeviceError where NCCL can not connect them, or was not built in.
std::vector<std::shared_ptr<Communicator>> make_nccl_communicators(const std::vector<int>& cards);

}  // namespace jari::cuda
