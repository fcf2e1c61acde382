#pragma once
// Which nodes a graph's outputs and updates need: a plan drops the others, such as what a cheaper form has replaced.

#include <vector>

#include "framework/graph/graph.hpp"

namespace jari {

std::vector<bool> needed_nodes(const Graph& graph);  // by node

}  // namespace jari
