#pragma once
// Ranks of emulated devices: threads that meet, and a sum that is taken in the order of the ranks.

#include <memory>
#include <vector>

#include "framework/backend/communicator.hpp"

namespace jari::test {

std::vector<std::shared_ptr<Communicator>> make_emulated_communicators(int ranks);

}  // namespace jari::test
