#pragma once
// Neighboring calls that a device does in one launch.

#include <vector>

#include "framework/program/plan.hpp"

namespace jari {

// `requests`: of the calls, in their order.
std::vector<Program::Plan::Joint> joint_calls(const std::vector<KernelCall>& calls,
                                              const std::vector<KernelRequest>& requests, Device& device);

}  // namespace jari
