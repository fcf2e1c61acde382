#include "framework/ops/negative_sampling.hpp"

#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

constexpr const char* kOp = "negative_sampling";

NegativeSamplingSizes require_operands(const char* op, const Types& inputs, const Attributes& attributes) {
  const TensorType &hidden = inputs[0], &table = inputs[1], &targets = inputs[2], &negatives = inputs[3];
  require_real(op, hidden);
  require_same_dtype(op, hidden, table);
  require_dtype(op, "the targets", targets, DType::i32);
  require_dtype(op, "the negatives", negatives, DType::i32);
  if (hidden.shape.rank() != 2 || table.shape.rank() != 2 || hidden.shape[1] != table.shape[1])
    throw ShapeError(fmt::format("{}: hidden {} and table {} must be [batch, width] and [vocabulary, width]", op,
                                 hidden.to_string(), table.to_string()));
  if (targets.shape.rank() != 2 || targets.shape[0] != hidden.shape[0])
    throw ShapeError(fmt::format("{}: the targets {} must be [batch, count] with the batch of hidden {}", op,
                                 targets.to_string(), hidden.to_string()));
  const Shape& shape = negatives.shape;
  const int leading = shape.rank() - 1;
  if (leading < 0 || leading > 2 || shape.first(leading) != targets.shape.first(leading))
    throw ShapeError(
        fmt::format("{}: the negatives {} must be [shared], [batch, K] or [batch, count, K] for targets {}", op,
                    negatives.to_string(), targets.to_string()));
  return {hidden.shape, table.shape, targets.shape, shape, attributes.as<NegativeSamplingAttributes>()};
}

Shape slopes_shape(const NegativeSamplingSizes& sizes, const Shape& negatives) {
  return sizes.shared ? Shape{sizes.batch, sizes.sampled} : negatives;
}

Types infer(const Types& inputs, const Attributes& attributes) {
  require_inputs(kOp, inputs.size(), 4, 4);
  const NegativeSamplingSizes sizes = require_operands(kOp, inputs, attributes);
  const DType dtype = inputs[0].dtype;
  return {{dtype, {}}, {dtype, {}}, {dtype, inputs[2].shape}, {dtype, slopes_shape(sizes, inputs[3].shape)}};
}

Types infer_gradient(const Types& inputs, const Attributes& attributes) {
  const char* op = "negative_sampling_gradient";
  require_inputs(op, inputs.size(), 7, 7);
  const NegativeSamplingSizes sizes = require_operands(op, inputs, attributes);
  const DType dtype = inputs[0].dtype;
  require_type(op, "target_slopes", inputs[4], {dtype, inputs[2].shape});
  require_type(op, "negative_slopes", inputs[5], {dtype, slopes_shape(sizes, inputs[3].shape)});
  require_type(op, "upstream", inputs[6], {dtype, {}});
  return {inputs[0], {dtype, {sizes.rows, sizes.width}}, {DType::i32, {sizes.rows}}, {dtype, {}}};
}

Value ones_where_not_negative(Graph& graph, Value ids, DType dtype) {
  return cast(logical_not(less(ids, graph.constant_i32({}, {0}))), dtype);
}

// max(x, 0) + log(1 + e^-|x|)
Value softplus(Value x) { return maximum(x, scalar_like(x, 0)) + log(exp(-abs(x)) + 1.0); }

Value with_axis(Value x, int axis) {
  Shape shape = x.shape().first(axis);
  shape.push_back(1);
  for (int i = axis; i < x.shape().rank(); ++i) shape.push_back(x.shape()[i]);
  return reshape(x, shape);
}

// Scores of `hidden` with rows of the table, shaped like the ids (shared ids: [batch, ids]).
Value scores(Value hidden, Value table, Value ids) {
  const Value rows = gather(table, ids);
  if (ids.shape().rank() == 1) return matmul(hidden, rows, false, true);
  Value wide = hidden;
  while (wide.shape().rank() < rows.shape().rank()) wide = with_axis(wide, 1);
  return reduce_sum(wide * rows, {-1});
}

Values body(Graph& graph, const Values& inputs, const Attributes& attributes) {
  const Value hidden = inputs[0], table = inputs[1], targets = inputs[2], negatives = inputs[3];
  const DType dtype = hidden.dtype();
  const int rank = negatives.shape().rank();
  const Value valid = ones_where_not_negative(graph, targets, dtype);
  const Value pairs = sum_all(valid);
  const Value share = scalar_like(hidden, 1) / maximum(pairs, scalar_like(hidden, 1));
  // How many pairs a score with a negative counts for.
  const Value uses = rank == 3 ? with_axis(valid, 2) : reduce_sum(valid, {1}, /*keep=*/true);
  const double factor = attributes.as<NegativeSamplingAttributes>().weight / static_cast<double>(negatives.shape()[-1]);
  const Value weights = uses * ones_where_not_negative(graph, negatives, dtype) * factor * share;

  const Value target_scores = scores(hidden, table, targets), negative_scores = scores(hidden, table, negatives);
  const Value loss = sum_all(softplus(-target_scores) * valid * share) + sum_all(softplus(negative_scores) * weights);
  return {loss, pairs, -(sigmoid(-target_scores) * valid * share), sigmoid(negative_scores) * weights};
}

Value flat(Value x) { return reshape(x, {x.shape().size()}); }

// [batch, ...] -> [batch, numbers of a row]
Value by_row(Value x) { return reshape(x, {x.shape()[0], x.shape().size() / x.shape()[0]}); }

// slope * hidden for every id of each row of `hidden`: [ids, width].
Value outer(Value slopes, Value hidden) {
  const std::int64_t batch = hidden.shape()[0], width = hidden.shape()[1], a_row = slopes.shape()[1];
  const Value products = reshape(slopes, {batch, a_row, 1}) * reshape(hidden, {batch, 1, width});
  return reshape(products, {batch * a_row, width});
}

Value mixed_rows(Value slopes, Value table, Value ids) {
  const std::int64_t batch = slopes.shape()[0], width = table.shape()[1];
  if (ids.shape().rank() == 1) return matmul(slopes, gather(table, ids));
  const std::int64_t a_row = slopes.shape().size() / batch;
  const Value rows = reshape(gather(table, ids), {batch, a_row, width});
  return reduce_sum(reshape(slopes, {batch, a_row, 1}) * rows, {1});
}

Values gradient_body(Graph&, const Values& inputs, const Attributes& attributes) {
  const Value hidden = inputs[0], table = inputs[1], targets = inputs[2], negatives = inputs[3];
  const Value target_slopes = inputs[4] * inputs[6], negative_slopes = inputs[5] * inputs[6];
  const bool shared = negatives.shape().rank() == 1;
  const Value hidden_gradient =
      mixed_rows(target_slopes, table, targets) + mixed_rows(negative_slopes, table, negatives);
  Value rows, ids;
  if (shared) {
    rows = concat({outer(target_slopes, hidden), matmul(negative_slopes, hidden, /*transpose_left=*/true)}, 0);
    ids = concat({flat(targets), negatives}, 0);
  } else {
    rows = outer(concat({target_slopes, by_row(negative_slopes)}, 1), hidden);
    ids = flat(concat({targets, by_row(negatives)}, 1));
  }
  const CombinedRows combined = combine_rows(rows, ids, table.shape()[0]);
  const NegativeSamplingSizes sizes(hidden.shape(), table.shape(), targets.shape(), negatives.shape(),
                                    attributes.as<NegativeSamplingAttributes>());
  return {hidden_gradient, slice(combined.rows, 0, 0, sizes.rows), slice(combined.ids, 0, 0, sizes.rows),
          combined.squares};
}

Values gradient(const GradientContext& context) {
  JARI_ASSERT(!context.output_gradients[2] && !context.output_gradients[3],
              "negative_sampling: the slopes have no gradient");
  if (!context.output_gradients[0]) return Values(4);  // of the pairs, which do not move
  const Values& in = context.inputs;
  const Values results = context.graph.apply(
      op_negative_sampling_gradient,
      {in[0], in[1], in[2], in[3], context.outputs[2], context.outputs[3], context.output_gradients[0]},
      context.attributes);
  return {results[0], scatter_add(results[1], results[2], in[1].shape()[0]), Value(), Value()};
}

}  // namespace

const Op op_negative_sampling = {
    .name = kOp, .infer = infer, .gradient = gradient, .body = body, .row_reads = {{1, 2}, {1, 3}}};
const Op op_negative_sampling_gradient = {.name = "negative_sampling_gradient",
                                          .infer = infer_gradient,
                                          .body = gradient_body,
                                          .row_reads = {{1, 2}, {1, 3}}};

NegativeSamplingResult negative_sampling(Value hidden, Value table, Value targets, Value negatives, double weight,
                                         std::int64_t most_rows) {
  const Values outputs = hidden.graph().apply(op_negative_sampling, {hidden, table, targets, negatives},
                                              NegativeSamplingAttributes{weight, most_rows});
  return {outputs[0], outputs[1]};
}

}  // namespace jari
