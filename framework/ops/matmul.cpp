#include "framework/ops/matmul.hpp"

#include <fmt/core.h>

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/gelu_mlp.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/rewrite.hpp"

namespace jari {

namespace {

std::string shape_text(const TensorType& type, bool transposed) {
  return type.shape.to_string() + (transposed ? " transposed" : "");
}

}  // namespace

MatmulSizes matmul_sizes(const TensorType& left, const TensorType& right, const MatmulAttributes& attributes) {
  require_real("matmul", left);
  require_dtype("matmul", "right", right, left.dtype);
  require_rank("matmul", "left", left, 2);
  require_rank("matmul", "right", right, 2);
  const bool transpose_left = attributes.transpose_left, transpose_right = attributes.transpose_right;
  const std::int64_t left_inner = left.shape[transpose_left ? -2 : -1];
  const std::int64_t right_inner = right.shape[transpose_right ? -1 : -2];
  const std::string operands =
      fmt::format("left {}, right {}", shape_text(left, transpose_left), shape_text(right, transpose_right));
  if (left_inner != right_inner) {
    throw ShapeError(fmt::format("matmul: inner sizes differ: {} ({} and {})", operands, left_inner, right_inner));
  }
  MatmulSizes sizes;
  if (!broadcast(left.shape.first(left.shape.rank() - 2), right.shape.first(right.shape.rank() - 2), sizes.batch)) {
    throw ShapeError(fmt::format("matmul: leading axes do not broadcast: {}", operands));
  }
  sizes.m = left.shape[transpose_left ? -1 : -2];
  sizes.k = left_inner;
  sizes.n = right.shape[transpose_right ? -2 : -1];
  return sizes;
}

namespace {

std::vector<TensorType> infer(const std::vector<TensorType>& inputs, const Attributes& given) {
  const auto& attributes = given.as<MatmulAttributes>();
  const std::size_t expected = 2 + (attributes.biased ? 1 : 0) + (attributes.added ? 1 : 0);
  require_inputs("matmul", inputs.size(), expected, expected);
  const MatmulSizes sizes = matmul_sizes(inputs[0], inputs[1], attributes);
  Shape shape = sizes.batch;
  shape.push_back(sizes.m);
  shape.push_back(sizes.n);
  const TensorType result = {inputs[0].dtype, shape};
  if (attributes.biased) require_type("matmul", "bias", inputs[2], {result.dtype, {sizes.n}});
  if (attributes.added) require_type("matmul", "addend", inputs.back(), result);
  return {result};
}

// [..., m, k] as [... m, k]: one tall matrix.
Value flatten_rows(Value x) {
  const std::int64_t columns = x.shape()[-1];
  const std::int64_t rows = x.shape().first(x.shape().rank() - 1).size();
  return x.shape().rank() == 2 ? x : reshape(x, {rows, columns});
}

std::vector<Value> gradient(const GradientContext& context) {
  Value left = context.inputs[0], right = context.inputs[1], upstream = context.output_gradients[0];
  const auto [transpose_left, transpose_right, biased, added] = context.attributes.as<MatmulAttributes>();
  std::vector<Value> gradients(context.inputs.size());
  if (biased && context.wanted[2]) gradients[2] = reduce_to(upstream, context.inputs[2].shape());
  if (added) gradients.back() = upstream;
  if (context.wanted[0]) {
    const Value product = transpose_left ? matmul(right, upstream, transpose_right, true)
                                         : matmul(upstream, right, false, !transpose_right);
    gradients[0] = reduce_to(product, left.shape());
  }
  if (context.wanted[1]) {
    // A matrix that all rows share gets its gradient from one product over all rows, not from a sum of products.
    if (right.shape().rank() == 2 && !transpose_left) {
      left = flatten_rows(left);
      upstream = flatten_rows(upstream);
    }
    const Value product =
        transpose_right ? matmul(upstream, left, true, transpose_left) : matmul(left, upstream, !transpose_left, false);
    gradients[1] = reduce_to(product, right.shape());
  }
  return gradients;
}

}  // namespace

const Op op_matmul = {.name = "matmul", .infer = infer, .gradient = gradient};

Value matmul(Value left, Value right, bool transpose_left, bool transpose_right) {
  if (!transpose_left && !transpose_right) {
    if (const Value cheaper = rewrite_gelu_mlp(left, right)) return cheaper;
  }
  if (!transpose_left) {
    if (const Value cheaper = rewrite_matmul(left, right, transpose_right)) return cheaper;
  }
  return left.graph().apply_one(op_matmul, {left, right}, MatmulAttributes{transpose_left, transpose_right});
}

}  // namespace jari
