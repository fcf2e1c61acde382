#include "framework/graph/needed.hpp"

namespace jari {

std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> needed(static_cast<std::size_t>(graph.size()));
  for (const auto& [name, value] : graph.outputs()) needed[static_cast<std::size_t>(value.node())] = true;
  for (const auto& [parameter, value] : graph.updates()) {
    needed[static_cast<std::size_t>(parameter.node())] = true;
    needed[static_cast<std::size_t>(value.node())] = true;
  }
  // Operands come before what reads them.
  for (int i = graph.size() - 1; i >= 0; --i) {
    if (!needed[static_cast<std::size_t>(i)]) continue;
    for (const Value& input : graph.node(i).inputs) needed[static_cast<std::size_t>(input.node())] = true;
  }
  return needed;
}

}  // namespace jari
