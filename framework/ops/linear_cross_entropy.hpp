#pragma once
// Cross-entropy of logits x weight^T without the logits: for vocabularies much larger than the width, where they would
// be most of a step's memory. Rows are taken some at a time, and since the loss is a mean, their part of the gradients
// is known as soon as their logits are.
//
// linear_cross_entropy: x [..., width], weight [classes, width], targets i32 [...] -> loss, a scalar, and its gradients
// with regard to x and weight. A target below 0 is ignored.

#include "framework/graph/op.hpp"

namespace jari {

// The same loss for `cross_entropy(logits, targets)` where the logits are such a product; an invalid Value where they
// are not, or the logits are small, or the graph takes no rewrites.
Value rewrite_cross_entropy(Value logits, Value targets);

}  // namespace jari
