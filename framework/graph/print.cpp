#include "framework/graph/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "framework/base/table.hpp"
#include "framework/graph/needed.hpp"

namespace jari {

namespace {

std::string right_side(const Node& node) {
  switch (node.kind) {
    case NodeKind::input:
      return "input";
    case NodeKind::parameter:
      return "parameter";
    case NodeKind::resident:
      return "resident";
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

// "f32[2, 3]", "f32[2], i32[]", "3 x f32[2]".
std::string types_of(const Node& node) {
  const bool all_equal = std::ranges::adjacent_find(node.outputs, std::ranges::not_equal_to{}) == node.outputs.end();
  if (node.outputs.size() > 1 && all_equal)
    return fmt::format("{} x {}", node.outputs.size(), node.outputs.front().to_string());
  std::vector<std::string> types;
  for (const TensorType& type : node.outputs) types.push_back(type.to_string());
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string results_text(const Graph& graph) {
  std::string text;
  for (const auto& [name, value] : graph.outputs()) text += fmt::format("output {} = {}\n", name, name_of(value));
  for (const auto& [parameter, value] : graph.updates())
    text += fmt::format("update {} = {}\n", graph.node(parameter.node()).path, name_of(value));
  return text;
}

}  // namespace

std::string name_of(Value value) {
  return value.output() == 0 ? fmt::format("%{}", value.node()) : fmt::format("%{}.{}", value.node(), value.output());
}

std::string Graph::to_string() const {
  std::string text;
  for (int i = 0; i < size(); ++i) {
    const Node& of = node(i);
    text += fmt::format("%{} = {} : {}{}", i, right_side(of), types_of(of), of.per_trial ? " per trial" : "");
    if (!of.path.empty()) text += "  " + of.path;
    text += '\n';
  }
  return text + results_text(*this);
}

std::string graph_table(const Graph& graph) {
  TextTable table({{"node", Align::right}, {"path"}, {"type"}, {"trials"}, {"spec"}, {"op"}});
  const std::vector<bool> needed = needed_nodes(graph);
  for (int i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    const char* trials = !needed[static_cast<std::size_t>(i)] ? "unused" : node.per_trial ? "each" : "shared";
    const std::string place = node.span ? fmt::format("{}:{}", node.span.file->name, node.span.line) : "";
    table.add_row({fmt::format("%{}", i), node.path, types_of(node), trials, place, right_side(node)});
  }
  return table.text() + results_text(graph);
}

}  // namespace jari
