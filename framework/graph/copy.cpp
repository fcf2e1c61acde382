#include "framework/graph/copy.hpp"

#include <algorithm>
#include <map>

namespace jari {
namespace {

class Copier {
 public:
  explicit Copier(Graph& graph) : graph_(graph) {}

  Value copy(Value value) {
    const auto known = nodes_.find(value.node());
    const int node = known != nodes_.end() ? known->second : copy_node(value.graph().node(value.node()));
    nodes_[value.node()] = node;
    return {&graph_, node, value.output()};
  }

 private:
  int copy_node(const Node& node) {
    const Graph::Scope scope(graph_, node.kind == NodeKind::op ? node.path : "", node.span);
    switch (node.kind) {
      case NodeKind::input:
        return graph_.input(node.path, node.outputs[0], node.per_trial).node();
      case NodeKind::resident:
        return graph_.resident(node.path, node.outputs[0], node.resident).node();
      case NodeKind::constant:
        return graph_.constant_of(node.outputs[0], node.constant).node();
      case NodeKind::parameter:
        JARI_ASSERT(false, "a parameter can not be copied");
      case NodeKind::op:
        break;
    }
    std::vector<Value> inputs;
    for (const Value& input : node.inputs) inputs.push_back(copy(input));
    return graph_.apply(*node.op, std::move(inputs), node.attributes).front().node();
  }

  Graph& graph_;
  std::map<int, int> nodes_;  // by those of the other graph
};

}  // namespace

bool needs_no_parameter(Value value) {
  const Node& node = value.graph().node(value.node());
  return node.kind != NodeKind::parameter && std::ranges::all_of(node.inputs, needs_no_parameter);
}

Value copied_into(Graph& graph, Value value) { return Copier(graph).copy(value); }

}  // namespace jari
