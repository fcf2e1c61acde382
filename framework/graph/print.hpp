#pragma once
// A graph for people: as a table, or as a picture.

#include <string>

#include "framework/graph/graph.hpp"

namespace jari {

// "%3", or "%3.1" for a further output.
std::string name_of(Value value);

// One row a node: name, path, types, whether each trial has its own or all share it ("unused": nothing needs it, and
// the plan drops it), the spec line that made it, its op and operands. Outputs and updates below.
std::string graph_table(const Graph& graph);

// Graphviz's language: `dot -Tsvg`. Nodes are clustered by the scopes of their paths; what is shared by all trials is
// dashed, and what nothing needs is left out.
std::string graph_dot(const Graph& graph, const std::string& title);

}  // namespace jari
