// A graph as text, one line a node.

#include <fmt/format.h>

#include "framework/graph/graph.hpp"

namespace jari {

namespace {

// "%3", or "%3.1" for a further output.
std::string name_of(Value value) {
  return value.output() == 0 ? fmt::format("%{}", value.node()) : fmt::format("%{}.{}", value.node(), value.output());
}

std::string right_side(const Node& node) {
  switch (node.kind) {
    case NodeKind::input:
      return "input";
    case NodeKind::parameter:
      return "parameter";
    case NodeKind::constant:
      return fmt::format("constant {{{}}}", attributes_detail::text(node.constant));
    case NodeKind::op:
      break;
  }
  std::vector<std::string> inputs;
  for (const Value& input : node.inputs) inputs.push_back(name_of(input));
  std::string text = fmt::format("{}({})", node.op->name, fmt::join(inputs, ", "));
  if (!node.attributes.to_string().empty()) text += fmt::format(" {{{}}}", node.attributes.to_string());
  return text;
}

}  // namespace

std::string Graph::to_string() const {
  std::string text;
  for (int i = 0; i < size(); ++i) {
    const Node& of = node(i);
    std::vector<std::string> types;
    for (const TensorType& type : of.outputs) types.push_back(type.to_string());
    text += fmt::format("%{} = {} : {}{}", i, right_side(of), fmt::join(types, ", "), of.per_trial ? " per trial" : "");
    if (!of.path.empty()) text += "  " + of.path;
    text += '\n';
  }
  for (const auto& [name, value] : outputs_) text += fmt::format("output {} = {}\n", name, name_of(value));
  for (const auto& [parameter, value] : updates_)
    text += fmt::format("update {} = {}\n", node(parameter.node()).path, name_of(value));
  return text;
}

}  // namespace jari
