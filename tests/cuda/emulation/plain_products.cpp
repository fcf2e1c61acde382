// The seam to a library of matrix products, as plain loops: sums of the operands' own type, in the order of k.

#include "framework/backend/cuda/products.hpp"
#include "framework/backend/cuda/stream_queue.hpp"

namespace jari::cuda {
namespace {

template <class T>
void multiply(const ProductShape& shape, const T* left, const T* right, const T* addend, T* result) {
  for (std::int64_t i = 0; i < shape.m; ++i) {
    T* const row = result + i * shape.n;
    for (std::int64_t j = 0; j < shape.n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < shape.k; ++p) {
        const T a = left[shape.transpose_left ? p * shape.m + i : i * shape.k + p];
        const T b = right[shape.transpose_right ? j * shape.k + p : p * shape.n + j];
        sum += a * b;
      }
      row[j] = shape.accumulate ? addend[i * shape.n + j] + sum : sum;
    }
  }
}

template <class T>
T* at(const DeviceOperand& operand, int trial, std::int64_t offset) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(operand.data) +
                              static_cast<std::size_t>(trial) * operand.stride) +
         offset;
}

template <class T>
class PlainProduct final : public Product {
 public:
  explicit PlainProduct(const ProductShape& shape) : shape_(shape) {}

  void run(const ProductOperands& of, void* /*workspace*/, int trials, DeviceQueue& queue) const override {
    static_cast<StreamQueue&>(queue).stream()->enqueue([of, trials, shape = shape_] {
      for (int trial = 0; trial < trials; ++trial) {
        for (std::int64_t i = 0; i < shape.batch; ++i) {
          multiply<T>(shape, at<T>(of.left, trial, i * shape.left_stride),
                      at<T>(of.right, trial, i * shape.right_stride), at<T>(of.addend, trial, i * shape.result_stride),
                      at<T>(of.result, trial, i * shape.result_stride));
        }
      }
    });
  }

 private:
  ProductShape shape_;
};

}  // namespace

std::unique_ptr<Product> make_product(const ProductShape& shape) {
  if (shape.dtype == DType::f64) return std::make_unique<PlainProduct<double>>(shape);
  return std::make_unique<PlainProduct<float>>(shape);
}

}  // namespace jari::cuda
