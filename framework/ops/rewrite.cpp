#include "framework/ops/rewrite.hpp"

#include <algorithm>

#include "framework/ops/attention.hpp"
#include "framework/ops/matmul.hpp"
#include "framework/ops/ops.hpp"

namespace jari {
namespace {

const Node& node_of(Value value) { return value.graph().node(value.node()); }

bool is_op(Value value, const Op& op) {
  const Node& node = node_of(value);
  return node.kind == NodeKind::op && node.op == &op && value.output() == 0;
}

std::int64_t rows(Value x) {
  return x.shape().rank() == 0 ? 1 : x.shape().size() / std::max<std::int64_t>(x.shape()[-1], 1);
}

bool keeps_last_axis(Value reshaped) {
  const Value from = node_of(reshaped).inputs[0];
  return from.shape().rank() > 0 && from.shape()[-1] == reshaped.shape()[-1];
}

bool is_single_head_attention(Value x) {
  return is_op(x, op_attention) && !node_of(x).attributes.as<AttentionAttributes>().tokens_first && x.shape()[1] == 1;
}

// Rows that a linear map has to act on if it is pushed through what `x` is made of.
std::int64_t rows_behind(Value x) {
  if (x.shape().rank() == 0) return 1;
  const Node& node = node_of(x);
  if (is_op(x, op_gather) && node.inputs[0].shape().rank() == 2) return std::min(rows_behind(node.inputs[0]), rows(x));
  if (is_op(x, op_reshape) && keeps_last_axis(x)) return rows_behind(node.inputs[0]);
  if (is_op(x, op_add) && node.inputs[0].shape().rank() > 0 && node.inputs[1].shape().rank() > 0 &&
      node.inputs[0].shape()[-1] == node.inputs[1].shape()[-1]) {
    return rows_behind(node.inputs[0]) + rows_behind(node.inputs[1]);
  }
  return rows(x);
}

// Multiplications of attention followed by the map, and of the map followed by attention.
bool attention_is_cheaper_after(Value attended, std::int64_t width) {
  const Value value = node_of(attended).inputs[2];
  const std::int64_t pairs = attended.shape()[0] * attended.shape()[2] * value.shape()[2];
  const std::int64_t value_width = value.shape()[-1];
  const std::int64_t map_last = pairs * value_width + rows(attended) * value_width * width;
  const std::int64_t map_first = pairs * width + rows_behind(value) * value_width * width;
  return map_first < map_last;
}

Value push(Value x, Value right, bool transpose_right);

Value push_through_attention(Value attended, Value right, bool transpose_right) {
  const Node& node = node_of(attended);
  std::vector<Value> inputs = node.inputs;
  const Attributes attributes = node.attributes;
  inputs[2] = push(inputs[2], right, transpose_right);
  return attended.graph().apply(op_attention, inputs, attributes)[0];
}

Value plain(Value x, Value right, bool transpose_right) {
  if (x.shape().rank() > 1) return matmul(x, right, false, transpose_right);
  const Value row = matmul(reshape(x, {1, x.shape()[0]}), right, false, transpose_right);
  return reshape(row, {row.shape()[1]});
}

// x times the matrix, with the product taken as early as it is cheap.
Value push(Value x, Value right, bool transpose_right) {
  const std::int64_t width = right.shape()[transpose_right ? 0 : 1];
  const std::vector<Value> inputs = node_of(x).inputs;
  if (is_op(x, op_reshape) && keeps_last_axis(x)) {
    Shape shape = x.shape();
    shape[-1] = width;
    return reshape(push(inputs[0], right, transpose_right), shape);
  }
  if (is_single_head_attention(x) && attention_is_cheaper_after(x, width)) {
    return push_through_attention(x, right, transpose_right);
  }
  if (rows_behind(x) >= rows(x)) return plain(x, right, transpose_right);
  if (is_op(x, op_gather)) return gather(push(inputs[0], right, transpose_right), inputs[1]);
  return push(inputs[0], right, transpose_right) + push(inputs[1], right, transpose_right);
}

// Whether `push` would do anything but the plain product.
bool saves_work(Value x, std::int64_t width) {
  if (is_op(x, op_reshape) && keeps_last_axis(x)) return saves_work(node_of(x).inputs[0], width);
  return (is_single_head_attention(x) && attention_is_cheaper_after(x, width)) || rows_behind(x) < rows(x);
}

}  // namespace

Value rewrite_matmul(Value left, Value right, bool transpose_right) {
  if (!left.graph().rewrites() || left.shape().rank() < 2 || right.shape().rank() != 2) return {};
  if (left.shape()[-1] != right.shape()[transpose_right ? 1 : 0]) return {};  // an error, told by the plain product
  const std::int64_t width = right.shape()[transpose_right ? 0 : 1];
  return saves_work(left, width) ? push(left, right, transpose_right) : Value();
}

namespace {

// product + other within the product; an invalid Value where that saves nothing.
Value add_to_product(Value product, Value other) {
  const Node& node = node_of(product);
  if (!is_op(product, op_matmul) || node.inputs[1].shape().rank() != 2) return {};
  MatmulAttributes attributes = node.attributes.as<MatmulAttributes>();
  if (attributes.added) return {};
  std::vector<Value> inputs = node.inputs;
  inputs.push_back(other);
  if (!attributes.biased && other.type() == TensorType{product.dtype(), product.shape().last(1)}) {
    attributes.biased = true;
  } else if (other.type() == product.type()) {
    attributes.added = true;
  } else {
    return {};
  }
  return product.graph().apply(op_matmul, inputs, attributes)[0];
}

}  // namespace

Value rewrite_sum(Value left, Value right) {
  if (!left.graph().rewrites() || !is_real(left.dtype())) return {};
  // Of two products the later one takes up the other, as sums of gradients grow.
  if (const Value sum = add_to_product(right, left)) return sum;
  return add_to_product(left, right);
}

}  // namespace jari
