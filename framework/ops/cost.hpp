#pragma once
// What a graph costs to run, as far as its shapes tell. Nodes that nothing needs do not count.

#include <cstdint>
#include <map>
#include <string>

#include "framework/graph/graph.hpp"

namespace jari {

struct GraphCost {
  std::map<std::string, int> ops;  // nodes by op
  int inputs = 0, constants = 0, parameters = 0;
  std::int64_t parameter_elements = 0;  // with the optimizer's state
  std::size_t value_bytes = 0;          // of all results of ops, of one trial; a plan lets them share memory
  double product_flops = 0;             // of matrix products and attention, a multiplication and an addition each
};

GraphCost cost_of(const Graph& graph);

}  // namespace jari
