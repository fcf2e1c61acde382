// Sums and maxima over axes.

#include <algorithm>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/ops/attributes.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

bool contains(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Shape kept_shape(const Shape& shape, const std::vector<int>& axes) {
  Shape kept = shape;
  for (const int axis : axes) kept[axis] = 1;
  return kept;
}

Types infer_reduce(const Types& inputs, const Attributes& attributes) {
  const auto& a = attributes.as<ReduceAttributes>();
  if (a.keep) return {{inputs[0].dtype, kept_shape(inputs[0].shape, a.axes)}};
  Shape shape;
  for (int axis = 0; axis < inputs[0].shape.rank(); ++axis) {
    if (!contains(a.axes, axis)) shape.push_back(inputs[0].shape[axis]);
  }
  return {{inputs[0].dtype, shape}};
}

Types infer_reduce_sum(const Types& inputs, const Attributes& attributes) {
  if (inputs[0].dtype == DType::boolean)
    throw ShapeError(fmt::format("reduce_sum: takes numbers, not {}: cast it", inputs[0].to_string()));
  return infer_reduce(inputs, attributes);
}

Types infer_reduce_max(const Types& inputs, const Attributes& attributes) {
  const auto& a = attributes.as<ReduceAttributes>();
  if (inputs[0].dtype == DType::boolean)
    throw ShapeError(fmt::format("reduce_max: takes numbers, not {}: cast it", inputs[0].to_string()));
  for (const int axis : a.axes) {
    if (inputs[0].shape[axis] == 0)
      throw ShapeError(fmt::format("reduce_max: axis {} of {} is empty", axis, inputs[0].shape.to_string()));
  }
  return infer_reduce(inputs, attributes);
}

Values reduce_sum_gradient(const GradientContext& context) {
  const auto& a = context.attributes.as<ReduceAttributes>();
  const Shape& shape = context.inputs[0].shape();
  return {broadcast_to(reshape(context.output_gradients[0], kept_shape(shape, a.axes)), shape)};
}

// With the reduced axes moved to the end and flattened, the first maximum is the one that argmax finds.
Values reduce_max_gradient(const GradientContext& context) {
  const std::vector<int>& axes = context.attributes.as<ReduceAttributes>().axes;
  const Value x = context.inputs[0];
  std::vector<int> order;
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    if (!contains(axes, axis)) order.push_back(axis);
  }
  Shape flat;
  for (const int axis : order) flat.push_back(x.shape()[axis]);
  Shape column = flat;
  std::int64_t reduced = 1;
  for (const int axis : axes) reduced *= x.shape()[axis];
  flat.push_back(reduced);
  column.push_back(1);
  order.insert(order.end(), axes.begin(), axes.end());

  const Value moved = permute(x, order);
  const Value first = reshape(argmax(reshape(moved, flat)), column);
  const Value dy = reshape(context.output_gradients[0], column);
  const Value dx = select(equal(iota(context.graph, reduced), first), dy, scalar_like(dy, 0));
  std::vector<int> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return {permute(reshape(dx, moved.shape()), inverse)};
}

Types infer_argmax(const Types& inputs, const Attributes&) {
  const Shape& shape = inputs[0].shape;
  if (inputs[0].dtype == DType::boolean)
    throw ShapeError(fmt::format("argmax: takes numbers, not {}: cast it", inputs[0].to_string()));
  if (shape.rank() == 0 || shape[-1] == 0)
    throw ShapeError(fmt::format("argmax: {} has no element along the last axis", inputs[0].to_string()));
  return {{DType::i32, shape.first(shape.rank() - 1)}};
}

Value reduce(const Op& op, Value x, const std::vector<int>& axes, bool keep) {
  ReduceAttributes attributes{{}, keep};
  for (const int axis : axes) {
    const int front = require_axis(op.name, axis, x);
    if (contains(attributes.axes, front))
      x.graph().fail(fmt::format("{}: axis {} is named twice in [{}]", op.name, front, fmt::join(axes, ", ")));
    attributes.axes.push_back(front);
  }
  if (attributes.axes.empty()) return x;
  std::sort(attributes.axes.begin(), attributes.axes.end());
  if (attributes.axes.empty()) return x;
  return x.graph().apply_one(op, {x}, std::move(attributes));
}

std::vector<int> all_axes(Value x) {
  std::vector<int> axes(static_cast<std::size_t>(x.shape().rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Types infer_sum_of_squares(const Types& inputs, const Attributes&) {
  require_inputs("sum_of_squares", inputs.size(), 1, 100'000);
  require_real("sum_of_squares", inputs[0]);
  for (const TensorType& input : inputs) require_same_dtype("sum_of_squares", inputs[0], input);
  return {{inputs[0].dtype, {}}};
}

Values sum_of_squares_body(Graph&, const Values& inputs, const Attributes&) {
  Value sum = sum_all(square(inputs[0]));
  for (std::size_t i = 1; i < inputs.size(); ++i) sum = sum + sum_all(square(inputs[i]));
  return {sum};
}

}  // namespace

const Op op_sum_of_squares = {.name = "sum_of_squares", .infer = infer_sum_of_squares, .body = sum_of_squares_body};
const Op op_reduce_sum = {.name = "reduce_sum", .infer = infer_reduce_sum, .gradient = reduce_sum_gradient};
const Op op_reduce_max = {.name = "reduce_max", .infer = infer_reduce_max, .gradient = reduce_max_gradient};
const Op op_argmax = {.name = "argmax", .infer = infer_argmax};

Value reduce_sum(Value x, std::vector<int> axes, bool keep) { return reduce(op_reduce_sum, x, axes, keep); }
Value reduce_max(Value x, std::vector<int> axes, bool keep) { return reduce(op_reduce_max, x, axes, keep); }

Value mean(Value x, std::vector<int> axes, bool keep) {
  const Value sum = reduce_sum(x, axes, keep);
  return sum * (static_cast<double>(sum.shape().size()) / static_cast<double>(x.shape().size()));
}

Value sum_all(Value x) { return reduce_sum(x, all_axes(x)); }
Value mean_all(Value x) { return mean(x, all_axes(x)); }
Value argmax(Value x) { return x.graph().apply_one(op_argmax, {x}); }

Value sum_of_squares(const std::vector<Value>& parts) {
  JARI_ASSERT(!parts.empty(), "a sum of nothing");
  return parts[0].graph().apply_one(op_sum_of_squares, parts);
}

}  // namespace jari
