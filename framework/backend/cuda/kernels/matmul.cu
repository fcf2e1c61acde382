// Matrix products: the library's, and around them what is added to the result.

#include "framework/ops/matmul.hpp"

#include <algorithm>

#include "framework/backend/cuda/pointwise.hpp"
#include "framework/backend/cuda/slab_product.hpp"

namespace jari {

namespace {

using namespace cuda;

// Where each product of a batch finds its operand, in elements: leading axes of size 1 repeat.
std::vector<std::int64_t> batch_offsets(const Shape& operand, const Shape& batch) {
  Shape leading = operand.first(operand.rank() - 2);
  const std::vector<std::int64_t> strides = broadcast_strides(leading, batch);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(batch.size()));
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    std::int64_t rest = i, offset = 0;
    for (int axis = batch.rank() - 1; axis >= 0; --axis) {
      offset += rest % batch[axis] * strides[static_cast<std::size_t>(axis)];
      rest /= batch[axis];
    }
    offsets[static_cast<std::size_t>(i)] = offset * operand.last(2).size();
  }
  return offsets;
}

// One library product serves `count` of the batch, from one to the next of which operands go on by fixed strides; it is
// run for each such stretch.
struct Batches {
  std::vector<std::int64_t> left, right;  // by product
  std::int64_t count = 1;

  // The longest stretch that divides the batch.
  void find_count() {
    const auto size = static_cast<std::int64_t>(left.size());
    for (count = size; count > 1; --count) {
      if (size % count == 0 && goes_on(left) && goes_on(right)) return;
    }
    count = std::max<std::int64_t>(1, count);
  }
  std::int64_t stride(const std::vector<std::int64_t>& offsets) const {
    return count > 1 ? offsets[1] - offsets[0] : 0;
  }

 private:
  bool goes_on(const std::vector<std::int64_t>& offsets) const {
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      const bool is_within = static_cast<std::int64_t>(i + 1) % count != 0;
      if (is_within && offsets[i + 1] - offsets[i] != offsets[1] - offsets[0]) return false;
    }
    return true;
  }
};

// What the product is added to, where it has a bias: that, by column, and the addend, if there is one.
template <class T>
struct WithBias {
  Operand<const T> bias, addend;  // addend: null for none
  Operand<T> out;
  std::int64_t columns;
  __device__ void operator()(std::int64_t i) const {
    const T value = bias.of_trial()[i % columns];
    out.of_trial()[i] = addend.data ? addend.of_trial()[i] + value : value;
  }
};

class MatmulKernel final : public DeviceKernel {
 public:
  explicit MatmulKernel(const KernelRequest& request)
      : attributes_(request.attributes.as<MatmulAttributes>()), size_(request.outputs[0].shape.size()) {
    const Shape &left = request.inputs[0].shape, &right = request.inputs[1].shape;
    MatmulSizes sizes = matmul_sizes(request.inputs[0], request.inputs[1], attributes_);
    if (right.first(right.rank() - 2).size() == 1 && !attributes_.transpose_left) {
      sizes.m *= sizes.batch.size();  // rows of all the batch share the right operand
      sizes.batch = {};
    }
    batches_.left = sizes.batch.rank() == 0 ? std::vector<std::int64_t>{0} : batch_offsets(left, sizes.batch);
    batches_.right = sizes.batch.rank() == 0 ? std::vector<std::int64_t>{0} : batch_offsets(right, sizes.batch);
    batches_.find_count();
    shape_ = {.dtype = request.inputs[0].dtype,
              .products = request.products,
              .m = sizes.m,
              .n = sizes.n,
              .k = sizes.k,
              .transpose_left = attributes_.transpose_left,
              .transpose_right = attributes_.transpose_right,
              .accumulate = attributes_.biased || attributes_.added,
              .batch = batches_.count,
              .left_stride = batches_.stride(batches_.left),
              .right_stride = batches_.stride(batches_.right),
              .result_stride = sizes.m * sizes.n};
    if (size_ > 0) product_ = make_product_in_slabs(shape_);
  }

  std::size_t workspace_bytes(int trials) const override { return product_ ? product_->workspace_bytes(trials) : 0; }

  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override {
    if (size_ == 0) return;
    const Call call(arguments, queue);
    DeviceOperand addend = arguments.outputs[0];
    if (attributes_.biased) {
      if (shape_.dtype == DType::f64) {
        put_bias<double>(call);
      } else {
        put_bias<float>(call);
      }
    } else if (attributes_.added) {
      addend = arguments.inputs[2];
    }
    const std::size_t element = size_of(shape_.dtype);
    for (std::size_t i = 0; i < batches_.left.size(); i += static_cast<std::size_t>(batches_.count)) {
      const std::int64_t at = static_cast<std::int64_t>(i) * shape_.result_stride;
      product_->run({from_element(arguments.inputs[0], batches_.left[i], element),
                     from_element(arguments.inputs[1], batches_.right[i], element), from_element(addend, at, element),
                     from_element(arguments.outputs[0], at, element)},
                    arguments.workspace, arguments.trials, queue);
    }
  }

 private:
  template <class T>
  void put_bias(const Call& call) const {
    WithBias<T> values{call.input<T>(2), {}, call.output<T>(0), shape_.n};
    if (attributes_.added) values.addend = call.input<T>(3);
    launch_elements(call, size_, values);
  }

  MatmulAttributes attributes_;
  std::int64_t size_;  // of the result
  Batches batches_;
  ProductShape shape_;
  std::unique_ptr<Product> product_;
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_matmul(const KernelRequest& request) {
  if (!is_real(request.inputs[0].dtype)) refuse<DeviceKernel>(request, request.inputs[0].dtype);
  return std::make_unique<MatmulKernel>(request);
}

}  // namespace jari
