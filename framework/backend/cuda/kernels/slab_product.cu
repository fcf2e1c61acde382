#include "framework/backend/cuda/slab_product.hpp"

#include <algorithm>

#include "framework/backend/cuda/pointwise.hpp"

namespace jari::cuda {

namespace {

constexpr std::int64_t kTile = 128;         // rows and columns that a library's block of threads is taken to have
constexpr std::int64_t kEnoughTiles = 128;  // that keep a card busy
constexpr std::int64_t kLeastDepth = 512;   // of a slab: what is added up is then little beside what is read

// Depth of a slab, a multiple of 32; the whole contraction where cutting does not pay.
std::int64_t slab_depth(const ProductShape& shape) {
  if (shape.batch != 1 || !shape.transpose_left || shape.transpose_right) return shape.k;
  const std::int64_t tiles = blocks_of(shape.m, kTile) * blocks_of(shape.n, kTile);
  const std::int64_t slabs = std::min(shape.k / kLeastDepth, kEnoughTiles / std::max<std::int64_t>(1, tiles));
  return slabs < 2 ? shape.k : blocks_of(blocks_of(shape.k, slabs), 32) * 32;
}

// An element is one slab's after the other's, in order, and then the addend's.
template <class T>
struct AddSlabs {
  Operand<const T> slabs, addend;  // addend: null for none
  Operand<T> result;
  std::int64_t count, size;
  __device__ void operator()(std::int64_t i) const {
    const T* const from = slabs.of_trial();
    T sum = from[i];
    for (std::int64_t slab = 1; slab < count; ++slab) sum += from[slab * size + i];
    result.of_trial()[i] = addend.data ? addend.of_trial()[i] + sum : sum;
  }
};

// The workspace: slabs' products by trial, then what the library asks for.
class SlabProduct final : public Product {
 public:
  SlabProduct(const ProductShape& shape, std::int64_t depth)
      : shape_(shape), depth_(depth), whole_(shape.k / depth), rest_(shape.k % depth) {
    ProductShape slab = shape;
    slab.k = depth;
    slab.accumulate = false;
    slab.batch = whole_;
    slab.left_stride = depth * shape.m;
    slab.right_stride = depth * shape.n;
    slab.result_stride = size();
    slabs_ = make_product(slab);
    if (rest_ == 0) return;
    slab.k = rest_;
    slab.batch = 1;
    last_ = make_product(slab);
  }

  std::size_t workspace_bytes(int trials) const override {
    const std::size_t library =
        std::max(slabs_->workspace_bytes(trials), last_ ? last_->workspace_bytes(trials) : std::size_t{0});
    return static_cast<std::size_t>(trials) * trial_bytes() + library;
  }

  void run(const ProductOperands& of, void* workspace, int trials, DeviceQueue& queue) const override {
    const std::size_t element = size_of(shape_.dtype);
    const DeviceOperand slabs = {workspace, trial_bytes()};
    void* const library = static_cast<std::byte*>(workspace) + static_cast<std::size_t>(trials) * trial_bytes();
    slabs_->run({of.left, of.right, {}, slabs}, library, trials, queue);
    if (last_) {
      const std::int64_t row = whole_ * depth_;
      last_->run({from_element(of.left, row * shape_.m, element),
                  from_element(of.right, row * shape_.n, element),
                  {},
                  from_element(slabs, whole_ * size(), element)},
                 library, trials, queue);
    }
    const DeviceOperand inputs[] = {slabs, shape_.accumulate ? of.addend : DeviceOperand{}};
    const DeviceArguments arguments = {inputs, &of.result, nullptr, trials, nullptr};
    const Call call(arguments, queue);
    if (shape_.dtype == DType::f64) {
      add<double>(call);
    } else {
      add<float>(call);
    }
  }

 private:
  std::int64_t size() const { return shape_.m * shape_.n; }
  std::int64_t count() const { return whole_ + (rest_ > 0 ? 1 : 0); }
  std::size_t trial_bytes() const {
    return aligned(static_cast<std::size_t>(count() * size()) * size_of(shape_.dtype));
  }
  template <class T>
  void add(const Call& call) const {
    launch_elements(call, size(), AddSlabs<T>{call.input<T>(0), call.input<T>(1), call.output<T>(0), count(), size()});
  }

  ProductShape shape_;
  std::int64_t depth_, whole_, rest_;  // rows of a slab, number of whole slabs, rows after them
  std::unique_ptr<Product> slabs_, last_;
};

}  // namespace

std::unique_ptr<Product> make_product_in_slabs(const ProductShape& shape) {
  const std::int64_t depth = slab_depth(shape);
  if (depth == shape.k) return make_product(shape);
  return std::make_unique<SlabProduct>(shape, depth);
}

}  // namespace jari::cuda
