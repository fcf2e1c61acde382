#pragma once
// The paths of a tree's keys.

#include <string>
#include <vector>

#include "framework/spec/spec_node.hpp"

namespace jari {

// Paths of all values, to find the nearest to a misspelt one.
std::vector<std::string> all_key_paths(const SpecNode& tree);

}  // namespace jari
