#pragma once
// A part of one graph, again in another.

#include "framework/graph/graph.hpp"

namespace jari {

// Whether a Value can be computed without any parameter.
bool needs_no_parameter(Value value);

// The same computation in another graph, from its inputs and residents of the same names. For a Value that needs no
// parameter.
Value copied_into(Graph& graph, Value value);

}  // namespace jari
