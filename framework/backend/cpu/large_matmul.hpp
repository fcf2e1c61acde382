#pragma once
// Products of a tall matrix with one that stays in a core's cache, and their gradients: what linear layers over many
// tokens are made of. The left operand is taken some rows at a time.

#include <memory>

#include "framework/backend/kernel.hpp"

namespace jari {

// Null if the product is of another kind, or the library's is the better one.
std::unique_ptr<Kernel> make_large_matmul(const KernelRequest& request);

}  // namespace jari
