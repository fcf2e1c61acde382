#pragma once
// Products of matrices, as a library makes them: cuBLAS on a card (cublas_products.cpp), plain loops in the emulation
// (tests/cuda). The seam is this narrow so that everything around it is tested without a card.

#include <cstdint>
#include <memory>

#include "framework/backend/device.hpp"

namespace jari::cuda {

// result [m, n] = left [m, k] x right [k, n], row-major, `batch` of them a trial.
struct ProductShape {
  DType dtype = DType::f32;  // or f64; sums are of this type
  Products products = Products::exact;
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_left = false;   // left lies as [k, m]
  bool transpose_right = false;  // right lies as [n, k]
  bool accumulate = false;       // the product is added to an addend, which lies as the result does
  std::int64_t batch = 1;
  std::int64_t left_stride = 0, right_stride = 0, result_stride = 0;  // elements from one of the batch to the next
};

struct ProductOperands {
  DeviceOperand left, right;
  DeviceOperand addend;  // if the shape says `accumulate`: the result itself, or memory of its own
  DeviceOperand result;
};

class Product {
 public:
  virtual ~Product() = default;
  virtual std::size_t workspace_bytes(int /*trials*/) const { return 0; }
  // Work on the queue; can be captured. Equal shapes and operands give equal bits on one card.
  virtual void run(const ProductOperands& operands, void* workspace, int trials, DeviceQueue& queue) const = 0;
};

std::unique_ptr<Product> make_product(const ProductShape& shape);

}  // namespace jari::cuda
