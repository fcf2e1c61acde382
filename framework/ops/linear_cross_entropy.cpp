#include "framework/ops/linear_cross_entropy.hpp"

#include "framework/base/error.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/cross_entropy.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/matmul.hpp"
#include "framework/ops/ops.hpp"

namespace jari {
namespace {

constexpr const char* kName = "linear_cross_entropy";

std::vector<TensorType> infer(const std::vector<TensorType>& inputs, const Attributes&) {
  require_inputs(kName, inputs.size(), 3, 3);
  const TensorType &x = inputs[0], &weight = inputs[1];
  require_real(kName, x);
  require_rank(kName, "x", x, 1);
  require_rank(kName, "weight", weight, 2);
  require_type(kName, "weight", weight, {x.dtype, {weight.shape[0], x.shape[-1]}});
  require_type(kName, "targets", inputs[2], {DType::i32, x.shape.first(x.shape.rank() - 1)});
  return {{x.dtype, {}}, x, weight};
}

std::vector<Value> body(Graph& graph, const std::vector<Value>& inputs, const Attributes&) {
  const Value x = inputs[0], weight = inputs[1], targets = inputs[2];
  const std::int64_t width = x.shape()[-1], classes = weight.shape()[0], rows = targets.shape().size();
  const Value flat = reshape(x, {rows, width}), flat_targets = reshape(targets, {rows});
  const Value logits = graph.apply_one(op_matmul, {flat, weight}, MatmulAttributes{false, true});
  const Value loss = graph.apply_one(op_cross_entropy, {logits, flat_targets}, CrossEntropyAttributes{});
  const Value by_logit =
      graph.apply_one(op_cross_entropy_gradient, {logits, flat_targets, scalar_like(x, 1)}, CrossEntropyAttributes{});
  JARI_ASSERT(by_logit.shape() == (Shape{rows, classes}), "a gradient of another shape");
  return {loss, reshape(matmul(by_logit, weight), x.shape()), matmul(by_logit, flat, true, false)};
}

bool is_one(Value value) {
  const Node& node = value.graph().node(value.node());
  return node.kind == NodeKind::constant && node.constant == std::vector<double>{1};
}

std::vector<Value> gradient(const GradientContext& context) {
  JARI_ASSERT(!context.output_gradients[1] && !context.output_gradients[2],
              "the gradients of a linear_cross_entropy have none of their own");
  const Value upstream = context.output_gradients[0];
  const auto scaled = [&](Value by_loss) { return is_one(upstream) ? by_loss : by_loss * upstream; };
  return {scaled(context.outputs[1]), scaled(context.outputs[2]), Value()};
}

}  // namespace

const Op op_linear_cross_entropy = {.name = kName, .infer = infer, .gradient = gradient, .body = body};

Value rewrite_cross_entropy(Value logits, Value targets) {
  constexpr std::int64_t kSmallest = 1 << 20;  // of logits: from here on they do not stay in a core's cache
  Graph& graph = logits.graph();
  const Node& node = graph.node(logits.node());
  if (!graph.rewrites() || node.kind != NodeKind::op || node.op != &op_matmul) return {};
  const auto [transpose_left, transpose_right, biased, added] = node.attributes.as<MatmulAttributes>();
  if (biased || added) return {};
  const Value x = node.inputs[0], weight = node.inputs[1];
  const bool fits = !transpose_left && transpose_right && weight.shape().rank() == 2 &&
                    weight.shape()[0] >= 4 * weight.shape()[1] && logits.shape().size() >= kSmallest;
  if (!fits || targets.type() != TensorType{DType::i32, x.shape().first(x.shape().rank() - 1)}) return {};
  return graph.apply(op_linear_cross_entropy, {x, weight, targets})[0];
}

}  // namespace jari
