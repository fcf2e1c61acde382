#pragma once
// Products around which the kernels of composite ops are built.

#include "framework/backend/cuda/products.hpp"

namespace jari::cuda {

// As make_product. A product of few elements over a long contraction, as a weight's gradient is, would leave most of a
// card idle: such a one (left transposed, right not, one a trial) is cut along the contraction into slabs, whose
// products are then added in order. The cut depends on the sizes alone.
std::unique_ptr<Product> make_product_in_slabs(const ProductShape& shape);

// The operand from element `elements` of each trial on.
inline DeviceOperand from_element(const DeviceOperand& operand, std::int64_t elements, std::size_t element_bytes) {
  return {static_cast<std::byte*>(operand.data) + elements * static_cast<std::int64_t>(element_bytes), operand.stride};
}

}  // namespace jari::cuda
