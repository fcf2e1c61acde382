#pragma once
// The paths of a tree's keys.

#include <string>
#include <string_view>
#include <vector>

#include "framework/spec/spec_node.hpp"

namespace jari {

// Paths of all values, to find the nearest to a misspelt one.
std::vector<std::string> all_key_paths(const SpecNode& tree);

// How much of `path` is one key of this node: the longest that it has, for keys may have dots themselves (an axis of a
// sweep is called "model.width"); else the first name.
std::size_t key_length(const SpecNode& node, std::string_view path);

}  // namespace jari
