// Rows of tables by ids, and back.

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/ops/attributes.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

Types infer_gather(const Types& inputs, const Attributes&) {
  const Shape& table = inputs[0].shape;
  require_dtype("gather", "the ids", inputs[1], DType::i32);
  if (table.rank() == 0 || table[0] == 0)
    throw ShapeError(fmt::format("gather: the table {} has no rows", inputs[0].to_string()));
  Shape shape = inputs[1].shape;
  for (int axis = 1; axis < table.rank(); ++axis) shape.push_back(table[axis]);
  return {{inputs[0].dtype, shape}};
}

Values gather_gradient(const GradientContext& context) {
  return {scatter_add(context.output_gradients[0], context.inputs[1], context.inputs[0].shape()[0]), Value()};
}

Types infer_scatter_add(const Types& inputs, const Attributes& attributes) {
  const std::int64_t rows = attributes.as<ScatterAddAttributes>().rows;
  const Shape &updates = inputs[0].shape, &ids = inputs[1].shape;
  if (inputs[0].dtype == DType::boolean)
    throw ShapeError(fmt::format("scatter_add: takes numbers, not {}: cast it", inputs[0].to_string()));
  require_dtype("scatter_add", "the ids", inputs[1], DType::i32);
  if (rows < 1) throw ShapeError(fmt::format("scatter_add: {} rows: needs one at least", rows));
  if (updates.rank() < ids.rank() || updates.first(ids.rank()) != ids)
    throw ShapeError(fmt::format("scatter_add: the first axes of the updates {} must be those of the ids {}",
                                 updates.to_string(), ids.to_string()));
  Shape shape = {rows};
  for (int axis = ids.rank(); axis < updates.rank(); ++axis) shape.push_back(updates[axis]);
  return {{inputs[0].dtype, shape}};
}

Types infer_combine_rows(const Types& inputs, const Attributes& attributes) {
  Types types = infer_scatter_add(inputs, attributes);
  require_real("combine_rows", inputs[0]);
  const std::int64_t count = std::min(inputs[1].shape.size(), types[0].shape[0]);
  types[0].shape[0] = count;
  types.push_back({DType::i32, {count}});
  types.push_back({inputs[0].dtype, {}});
  return types;
}

Values scatter_add_gradient(const GradientContext& context) {
  return {gather(context.output_gradients[0], context.inputs[1]), Value()};
}

}  // namespace

const Op op_gather = {.name = "gather", .infer = infer_gather, .gradient = gather_gradient, .row_reads = {{0, 1}}};
const Op op_scatter_add = {.name = "scatter_add", .infer = infer_scatter_add, .gradient = scatter_add_gradient};
const Op op_combine_rows = {.name = "combine_rows", .infer = infer_combine_rows};

Value gather(Value table, Value ids) { return table.graph().apply_one(op_gather, {table, ids}); }

Value scatter_add(Value updates, Value ids, std::int64_t rows) {
  return updates.graph().apply_one(op_scatter_add, {updates, ids}, ScatterAddAttributes{rows});
}

CombinedRows combine_rows(Value updates, Value ids, std::int64_t rows) {
  const Values outputs = updates.graph().apply(op_combine_rows, {updates, ids}, ScatterAddAttributes{rows});
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace jari
