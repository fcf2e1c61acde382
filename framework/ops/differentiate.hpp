#pragma once
// Reverse-mode differentiation of a graph, and what gradient rules share.

#include <vector>

#include "framework/graph/graph.hpp"

namespace jari {

// Gradients of a scalar `loss` by `parameters`, as more graph; its nodes have paths under "gradient/". A parameter
// without influence gets zeros. Throws ShapeError if the loss is not a real scalar, or an op on the way has no gradient
// rule.
std::vector<Value> differentiate(Graph& graph, Value loss, const std::vector<Value>& parameters);

// Sums a gradient over the axes along which an operand of that shape was broadcast.
Value reduce_to(Value gradient, const Shape& shape);

// A scalar constant of the element type of `like`.
Value scalar_like(Value like, double value);

// Zeros of the type of `like`.
Value zeros_like(Value like);

}  // namespace jari
