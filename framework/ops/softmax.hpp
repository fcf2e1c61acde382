#pragma once
// Softmax over the last axis. A row of -infinity alone gives zeros, so that a fully masked query is harmless.

#include "framework/graph/op.hpp"

namespace jari {

// Below any finite value that occurs: the maximum of a row is taken to be at least this, so that -infinity minus it is
// still -infinity, not NaN. The CUDA kernels use the same.
inline constexpr double kLowestMaximum = -1e38;
// The sum of a row is taken to be at least this: it is 0 only for a row of -infinity, otherwise at least 1.
inline constexpr double kLowestSum = 1e-37;

}  // namespace jari
