#include "framework/ops/row_updates.hpp"

#include <algorithm>

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/optimizer_step.hpp"

namespace jari {

namespace {

void require_rows(const char* op, const TensorType& parameter, const TensorType& rows, const TensorType& ids) {
  require_real(op, parameter);
  require_rank(op, "parameter", parameter, 1);
  require_same_dtype(op, parameter, rows);
  require_dtype(op, "the ids", ids, DType::i32);
  Shape shape = parameter.shape;
  shape[0] = ids.shape.rank() == 1 ? ids.shape[0] : -1;
  if (rows.shape != shape)
    throw ShapeError(fmt::format("{}: rows {} with ids {} are none of the parameter {}", op, rows.to_string(),
                                 ids.to_string(), parameter.to_string()));
}

Types infer_sgd(const Types& inputs, const Attributes&) {
  const char* op = "sgd_update_rows";
  require_inputs(op, inputs.size(), 5, 5);
  require_rows(op, inputs[0], inputs[1], inputs[2]);
  require_type(op, "learning_rate", inputs[3], {inputs[0].dtype, {}});
  require_type(op, "weight_decay", inputs[4], {inputs[0].dtype, {}});
  return {inputs[0]};
}

Values sgd_body(Graph&, const Values& inputs, const Attributes&) {
  const Value gradient = scatter_add(inputs[1], inputs[2], inputs[0].shape()[0]);
  return {inputs[0] - inputs[3] * (gradient + inputs[4] * inputs[0])};
}

void require_adam_state(const char* op, const Types& inputs) {
  const TensorType& parameter = inputs[0];
  require_real(op, parameter);
  require_rank(op, "parameter", parameter, 1);
  require_type(op, "first_moment", inputs[1], parameter);
  require_type(op, "second_moment", inputs[2], parameter);
  require_type(op, "steps_done", inputs[3], {DType::i32, {parameter.shape[0]}});
}

Types infer_catch_up(const Types& inputs, const Attributes&) {
  const char* op = "adam_catch_up";
  require_inputs(op, inputs.size(), 7, 1000);
  require_adam_state(op, inputs);
  const DType dtype = inputs[0].dtype;
  if (inputs[4].shape.rank() != 1 || inputs[4].dtype != dtype)
    throw ShapeError(
        fmt::format("{}: the learning rates {} must be {}[history]", op, inputs[4].to_string(), name_of(dtype)));
  require_type(op, "weight_decay", inputs[5], {dtype, {}});
  require_type(op, "step", inputs[6], {DType::i32, {}});
  for (std::size_t i = 7; i < inputs.size(); ++i) require_dtype(op, "the ids", inputs[i], DType::i32);
  return {inputs[0], inputs[1], inputs[2], inputs[3]};
}

Types infer_adam(const Types& inputs, const Attributes&) {
  const char* op = "adam_update_rows";
  require_inputs(op, inputs.size(), 9, 9);
  require_adam_state(op, inputs);
  require_rows(op, inputs[0], inputs[4], inputs[5]);
  require_type(op, "learning_rate", inputs[6], {inputs[0].dtype, {}});
  require_type(op, "weight_decay", inputs[7], {inputs[0].dtype, {}});
  require_type(op, "step", inputs[8], {DType::i32, {}});
  return {inputs[0], inputs[1], inputs[2], inputs[3]};
}

bool is(Value value, const Op& op) {
  const Node& node = value.graph().node(value.node());
  return node.kind == NodeKind::op && node.op == &op;
}

// Collects the operands of the scatter_adds that a gradient is the sum of; false if it is anything else.
bool collect(Value gradient, Values& rows, Values& ids) {
  const Node& node = gradient.graph().node(gradient.node());
  if (is(gradient, op_add)) return collect(node.inputs[0], rows, ids) && collect(node.inputs[1], rows, ids);
  if (!is(gradient, op_scatter_add)) return false;
  const Value of_rows = node.inputs[0], of_ids = node.inputs[1];
  Shape shape = gradient.shape();
  shape[0] = of_ids.shape().size();
  rows.push_back(reshape(of_rows, shape));
  ids.push_back(reshape(of_ids, {shape[0]}));
  return true;
}

bool is_constant(Value value) {
  const Node& node = value.graph().node(value.node());
  return node.kind == NodeKind::constant ||
         (node.kind == NodeKind::op && std::ranges::all_of(node.inputs, is_constant));
}

}  // namespace

const Op op_sgd_update_rows = {
    .name = "sgd_update_rows", .infer = infer_sgd, .body = sgd_body, .in_place = {0}, .steps = true};
const Op op_adam_update_rows = {
    .name = "adam_update_rows", .infer = infer_adam, .in_place = {0, 1, 2, 3}, .steps = true};
const Op op_adam_catch_up = {
    .name = "adam_catch_up", .infer = infer_catch_up, .in_place = {0, 1, 2, 3}, .steps = true, .settles = true};

std::optional<RowGradient> row_gradient(Value gradient) {
  Values rows, ids;
  if (gradient.shape().rank() < 1 || !collect(gradient, rows, ids)) return std::nullopt;
  const std::int64_t table_rows = gradient.shape()[0];
  std::int64_t named = 0;
  for (const Value& each : ids) named += each.shape()[0];
  if (named >= kFewIds * table_rows) return std::nullopt;
  // Positions: the same rows at every step.
  if (gradient.shape().size() <= kSmallTable && std::ranges::all_of(ids, is_constant)) return std::nullopt;
  // A gradient rule of an op may have combined them already.
  if (ids.size() == 1) {
    if (const auto combined = combined_rows_of(gradient)) return combined;
  }
  const Value all_rows = rows.size() == 1 ? rows[0] : concat(rows, 0);
  const Value all_ids = ids.size() == 1 ? ids[0] : concat(ids, 0);
  const CombinedRows combined = combine_rows(all_rows, all_ids, table_rows);
  return RowGradient{combined.rows, combined.ids, combined.squares};
}

Value as_gradient(const RowGradient& gradient, std::int64_t table_rows) {
  return scatter_add(gradient.rows, gradient.ids, table_rows);
}

std::optional<RowGradient> combined_rows_of(Value gradient) {
  if (!is(gradient, op_scatter_add)) return std::nullopt;
  const Node& node = gradient.graph().node(gradient.node());
  const Value ids = node.inputs[1];
  const bool combined =
      (is(ids, op_combine_rows) && ids.output() == 1) || (is(ids, op_negative_sampling_gradient) && ids.output() == 2);
  if (!combined) return std::nullopt;
  return RowGradient{node.inputs[0], ids, Value(&ids.graph(), ids.node(), ids.output() + 1)};
}

std::optional<std::vector<Value>> rows_read_of(const Graph& graph, Value parameter) {
  std::vector<Value> ids;
  for (int i = parameter.node() + 1; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    for (int input = 0; input < static_cast<int>(node.inputs.size()); ++input) {
      if (node.inputs[static_cast<std::size_t>(input)] != parameter) continue;
      const std::size_t before = ids.size();
      for (const RowRead& read : node.op->row_reads) {
        if (read.table == input) ids.push_back(node.inputs[static_cast<std::size_t>(read.ids)]);
      }
      if (ids.size() == before) return std::nullopt;
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Value adam_catch_up(Value parameter, const AdamRowState& state, Value learning_rates, Value weight_decay, Value step,
                    const std::vector<Value>& ids, const AdamOptions& options) {
  Values inputs = {parameter, state.first_moment, state.second_moment, state.steps_done, learning_rates, weight_decay,
                   step};
  inputs.insert(inputs.end(), ids.begin(), ids.end());
  const AdamAttributes attributes = {options.beta1, options.beta2, options.epsilon, options.decoupled_decay};
  return parameter.graph().apply(op_adam_catch_up, inputs, attributes)[0];
}

bool is_caught_up(Value parameter) { return is(parameter, op_adam_catch_up) && parameter.output() == 0; }

AdamRowsResult adam_update_rows(Value parameter, const RowGradient& gradient, Value learning_rate, Value weight_decay,
                                Value step) {
  JARI_ASSERT(is_caught_up(parameter), "adam_update_rows: the parameter is not of adam_catch_up");
  Graph& graph = parameter.graph();
  const auto state = [&](int output) { return Value(&graph, parameter.node(), output); };
  const Attributes attributes = graph.node(parameter.node()).attributes;
  const Values outputs = graph.apply(
      op_adam_update_rows,
      {parameter, state(1), state(2), state(3), gradient.rows, gradient.ids, learning_rate, weight_decay, step},
      attributes);
  return {outputs[0], {outputs[1], outputs[2], outputs[3]}};
}

}  // namespace jari
