#include "framework/ops/cost.hpp"

#include "framework/graph/needed.hpp"
#include "framework/ops/attention.hpp"
#include "framework/ops/matmul.hpp"
#include "framework/ops/ops.hpp"

namespace jari {
namespace {

double product(const Shape& batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(batch.size()) * static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(k);
}

double product_flops(const Graph& graph, const Node& node) {
  const auto type = [&](std::size_t input) -> const TensorType& {
    const Value value = node.inputs[input];
    return graph.node(value.node()).outputs[static_cast<std::size_t>(value.output())];
  };
  if (node.op == &op_matmul) {
    const MatmulSizes sizes = matmul_sizes(type(0), type(1), node.attributes.as<MatmulAttributes>());
    return product(sizes.batch, sizes.m, sizes.n, sizes.k);
  }
  if (node.op == &op_gelu_mlp || node.op == &op_gelu_mlp_gradient) {
    const std::int64_t rows = type(0).shape.size() / type(0).shape[-1];
    const double layers =
        product({}, rows, type(1).shape[0], type(1).shape[1]) + product({}, rows, type(2).shape[0], type(2).shape[1]);
    return node.op == &op_gelu_mlp ? layers : 2 * layers;
  }
  if (node.op == &op_linear_cross_entropy) {
    // Logits, and the gradients of both operands.
    return 3 * product({}, type(2).shape.size(), type(1).shape[0], type(1).shape[1]);
  }
  if (node.op != &op_attention && node.op != &op_attention_gradient) return 0;
  const AttentionSizes sizes =
      attention_sizes(node.op->name, node.attributes.as<AttentionAttributes>(), type(0), type(1), type(2));
  const Shape batch{sizes.batch, sizes.heads};
  const double scores = product(batch, sizes.length, sizes.keys, sizes.width);
  const double mix = product(batch, sizes.length, sizes.value_width, sizes.keys);
  if (node.op == &op_attention) return scores + mix;
  // Gradients of query and key; of value and probabilities; and the scores once more where they were not saved.
  return 2 * scores + 2 * mix + (sizes.saves_probabilities() ? 0 : scores);
}

}  // namespace

GraphCost cost_of(const Graph& graph) {
  GraphCost cost;
  const std::vector<bool> needed = needed_nodes(graph);
  for (int i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    if (!needed[static_cast<std::size_t>(i)]) continue;
    switch (node.kind) {
      case NodeKind::input:
      case NodeKind::resident:
        ++cost.inputs;
        break;
      case NodeKind::constant:
        ++cost.constants;
        break;
      case NodeKind::parameter:
        ++cost.parameters;
        cost.parameter_elements += node.outputs[0].shape.size();
        break;
      case NodeKind::op:
        ++cost.ops[node.op->name];
        for (const TensorType& type : node.outputs) cost.value_bytes += type.bytes();
        cost.product_flops += product_flops(graph, node);
        break;
    }
  }
  return cost;
}

}  // namespace jari
