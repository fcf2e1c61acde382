#pragma once
// Rewrites that save work: a static graph shows that a linear map commutes with a gather, with a broadcast sum and with
// attention's weighted mean, so it can act on the few rows of a table instead of on every token. Each rule has a cost
// and is taken only if it saves multiplications; results are equal within rounding. Graph::set_rewrites(false) turns
// them off.

#include "framework/graph/graph.hpp"

namespace jari {

// The product `left` x `right` (right: [k, n], or [n, k] if transposed) in a cheaper form that is already appended to
// the graph, or an invalid Value if the plain product is as good.
Value rewrite_matmul(Value left, Value right, bool transpose_right);

// left + right where one of them is a large product that can take the other up: a bias, or a sum of the same shape. An
// invalid Value where neither is. The product alone goes unused then, and is not computed.
Value rewrite_sum(Value left, Value right);

}  // namespace jari
