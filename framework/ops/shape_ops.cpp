// Ops that move elements without changing them.

#include <algorithm>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/ops/attributes.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

Types infer_reshape(const Types& inputs, const Attributes& attributes) {
  const Shape& shape = attributes.as<ShapeAttributes>().shape;
  if (shape.size() != inputs[0].shape.size())
    throw ShapeError(fmt::format("reshape: {} has {} elements, {} has {}", inputs[0].shape.to_string(),
                                 inputs[0].shape.size(), shape.to_string(), shape.size()));
  return {{inputs[0].dtype, shape}};
}

std::vector<int> axes_in_order(int rank) {
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Types infer_permute(const Types& inputs, const Attributes& attributes) {
  const std::vector<int>& order = attributes.as<PermuteAttributes>().order;
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != axes_in_order(inputs[0].shape.rank()))
    throw ShapeError(fmt::format("permute: the order [{}] does not name each axis of {} once", fmt::join(order, ", "),
                                 inputs[0].shape.to_string()));
  Shape shape;
  for (const int axis : order) shape.push_back(inputs[0].shape[axis]);
  return {{inputs[0].dtype, shape}};
}

Values permute_gradient(const GradientContext& context) {
  const std::vector<int>& order = context.attributes.as<PermuteAttributes>().order;
  std::vector<int> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return {permute(context.output_gradients[0], inverse)};
}

Types infer_slice(const Types& inputs, const Attributes& attributes) {
  const auto& a = attributes.as<SliceAttributes>();
  TensorType result = inputs[0];
  const std::int64_t size = result.shape[a.axis];
  if (a.begin < 0 || a.begin > a.end || a.end > size || a.stride < 1)
    throw ShapeError(fmt::format("slice: elements {} to {} with stride {} of axis {} of {}, which has {}", a.begin,
                                 a.end, a.stride, a.axis, inputs[0].shape.to_string(), size));
  result.shape[a.axis] = (a.end - a.begin + a.stride - 1) / a.stride;
  return {result};
}

// The gradient of the elements that were passed over is zero: each gets `stride - 1` zeros behind it first.
Values slice_gradient(const GradientContext& context) {
  const auto& a = context.attributes.as<SliceAttributes>();
  const Shape& shape = context.inputs[0].shape();
  Value dy = context.output_gradients[0];
  if (a.stride > 1) {
    Shape spread = dy.shape().first(a.axis + 1);
    spread.push_back(1);
    for (int axis = a.axis + 1; axis < shape.rank(); ++axis) spread.push_back(shape[axis]);
    Shape joined = dy.shape();
    joined[a.axis] *= a.stride;
    dy = reshape(pad(reshape(dy, spread), a.axis + 1, 0, a.stride - 1), joined);
    dy = slice(dy, a.axis, 0, std::min(joined[a.axis], shape[a.axis] - a.begin));
  }
  return {pad(dy, a.axis, a.begin, shape[a.axis] - a.begin - dy.shape()[a.axis])};
}

Types infer_pad(const Types& inputs, const Attributes& attributes) {
  const auto& a = attributes.as<PadAttributes>();
  if (a.before < 0 || a.after < 0)
    throw ShapeError(fmt::format("pad: {} before and {} after: neither may be negative", a.before, a.after));
  TensorType result = inputs[0];
  result.shape[a.axis] += a.before + a.after;
  return {result};
}

Values pad_gradient(const GradientContext& context) {
  const auto& a = context.attributes.as<PadAttributes>();
  return {slice(context.output_gradients[0], a.axis, a.before, a.before + context.inputs[0].shape()[a.axis])};
}

Types infer_concat(const Types& inputs, const Attributes& attributes) {
  const int axis = attributes.as<ConcatAttributes>().axis;
  TensorType result = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    Shape others = inputs[i].shape;
    const bool same_rank = others.rank() == result.shape.rank();
    if (same_rank) others[axis] = result.shape[axis];
    if (inputs[i].dtype != result.dtype || others != result.shape)
      throw ShapeError(fmt::format("concat: part {} is {}, part 0 {}: they may differ in the size of axis {} only", i,
                                   inputs[i].to_string(), inputs[0].to_string(), axis));
    result.shape[axis] += inputs[i].shape[axis];
  }
  return {result};
}

Values concat_gradient(const GradientContext& context) {
  const int axis = context.attributes.as<ConcatAttributes>().axis;
  Values results;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < context.inputs.size(); ++i) {
    const std::int64_t end = begin + context.inputs[i].shape()[axis];
    results.push_back(context.wanted[i] ? slice(context.output_gradients[0], axis, begin, end) : Value());
    begin = end;
  }
  return results;
}

Types infer_broadcast_to(const Types& inputs, const Attributes& attributes) {
  const Shape& shape = attributes.as<ShapeAttributes>().shape;
  Shape result;
  if (!broadcast(inputs[0].shape, shape, result) || result != shape)
    throw ShapeError(
        fmt::format("broadcast_to: {} does not broadcast to {}", inputs[0].shape.to_string(), shape.to_string()));
  return {{inputs[0].dtype, shape}};
}

Types infer_iota(const Types&, const Attributes& attributes) {
  return {{DType::i32, {attributes.as<IotaAttributes>().count}}};
}

}  // namespace

const Op op_reshape = {
    .name = "reshape",
    .infer = infer_reshape,
    .gradient = [](const GradientContext& c) { return Values{reshape(c.output_gradients[0], c.inputs[0].shape())}; },
    .in_place = {0}};
const Op op_permute = {.name = "permute", .infer = infer_permute, .gradient = permute_gradient};
const Op op_slice = {.name = "slice", .infer = infer_slice, .gradient = slice_gradient};
const Op op_pad = {.name = "pad", .infer = infer_pad, .gradient = pad_gradient};
const Op op_concat = {.name = "concat", .infer = infer_concat, .gradient = concat_gradient};
const Op op_broadcast_to = {
    .name = "broadcast_to", .infer = infer_broadcast_to, .gradient = [](const GradientContext& c) {
      return Values{reduce_to(c.output_gradients[0], c.inputs[0].shape())};
    }};
const Op op_iota = {.name = "iota", .infer = infer_iota};

Value reshape(Value x, Shape shape) {
  if (x.shape() == shape) return x;
  return x.graph().apply_one(op_reshape, {x}, ShapeAttributes{std::move(shape)});
}

Value permute(Value x, std::vector<int> order) {
  if (order == axes_in_order(x.shape().rank())) return x;
  const Node& node = x.graph().node(x.node());
  if (x.graph().rewrites() && node.kind == NodeKind::op && node.op == &op_permute) {
    // Two exchanges of axes are one, or none.
    const std::vector<int>& before = node.attributes.as<PermuteAttributes>().order;
    const auto is_axis = [&](int axis) { return axis >= 0 && axis < static_cast<int>(before.size()); };
    if (order.size() == before.size() && std::all_of(order.begin(), order.end(), is_axis)) {
      for (int& axis : order) axis = before[static_cast<std::size_t>(axis)];
      return permute(node.inputs[0], std::move(order));
    }
  }
  return x.graph().apply_one(op_permute, {x}, PermuteAttributes{std::move(order)});
}

Value transpose(Value x) {
  const int rank = x.shape().rank();
  if (rank < 2) x.graph().fail(fmt::format("transpose: needs two axes, {} has {}", x.shape().to_string(), rank));
  std::vector<int> order = axes_in_order(rank);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permute(x, std::move(order));
}

Value slice(Value x, int axis, std::int64_t begin, std::int64_t end, std::int64_t stride) {
  axis = require_axis("slice", axis, x);
  if (begin == 0 && end == x.shape()[axis] && stride == 1) return x;
  return x.graph().apply_one(op_slice, {x}, SliceAttributes{axis, begin, end, stride});
}

Value pad(Value x, int axis, std::int64_t before, std::int64_t after) {
  axis = require_axis("pad", axis, x);
  if (before == 0 && after == 0) return x;
  return x.graph().apply_one(op_pad, {x}, PadAttributes{axis, before, after});
}

Value concat(const std::vector<Value>& parts, int axis) {
  JARI_ASSERT(!parts.empty(), "concat of no parts");
  axis = require_axis("concat", axis, parts[0]);
  if (parts.size() == 1) return parts[0];
  return parts[0].graph().apply_one(op_concat, parts, ConcatAttributes{axis});
}

Value broadcast_to(Value x, Shape shape) {
  if (x.shape() == shape) return x;
  return x.graph().apply_one(op_broadcast_to, {x}, ShapeAttributes{std::move(shape)});
}

Value iota(Graph& graph, std::int64_t count) { return graph.apply_one(op_iota, {}, IotaAttributes{count}); }

}  // namespace jari
