#include "framework/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jari {

const TensorType& Value::type() const {
  JARI_ASSERT(graph_ != nullptr, "an empty Value has no type");
  return graph_->node(node_).outputs[static_cast<std::size_t>(output_)];
}

bool Value::per_trial() const { return graph_->node(node_).per_trial; }

namespace {

void check_sizes(const std::string& what, const Shape& shape) {
  for (const std::int64_t size : shape.sizes()) {
    if (size < 0) throw ShapeError(fmt::format("{}: negative size in shape {}", what, shape.to_string()));
  }
  // Beyond it sums of sizes overflow, and no device holds it.
  constexpr int kMostBits = 36;
  if (shape.size() > std::int64_t{1} << kMostBits)
    throw ShapeError(
        fmt::format("{}: shape {} has more than 2^{} elements; make it smaller", what, shape.to_string(), kMostBits));
}

}  // namespace

Value Graph::leaf(Node node, std::map<std::string, int>* names) {
  const char* const kind = node.kind == NodeKind::input       ? "input"
                           : node.kind == NodeKind::parameter ? "parameter"
                           : node.kind == NodeKind::resident  ? "resident"
                                                              : "constant";
  try {
    check_sizes(names ? fmt::format("{} '{}'", kind, node.path) : kind, node.outputs[0].shape);
    if (names) {
      const auto found = names->find(node.path);
      if (found != names->end()) {
        const Node& old = nodes_[static_cast<std::size_t>(found->second)];
        if (old.outputs == node.outputs && old.per_trial == node.per_trial && old.resident == node.resident)
          return {this, found->second, 0};
        if (old.resident != node.resident)
          throw ShapeError(
              fmt::format("{} '{}' is already there with other elements: use another name", kind, node.path));
        const auto text = [](const Node& of) {
          return of.outputs[0].to_string() + (of.per_trial ? " per trial" : " shared");
        };
        throw ShapeError(fmt::format("{} '{}' is already there as {}, and is asked for as {}: use another name", kind,
                                     node.path, text(old), text(node)));
      }
      names->emplace(node.path, size());
    }
  } catch (const ShapeError& error) {
    fail(error.what());
  }
  node.span = span_;
  nodes_.push_back(std::move(node));
  return {this, size() - 1, 0};
}

Value Graph::input(const std::string& name, TensorType type, bool per_trial) {
  Node node;
  node.kind = NodeKind::input;
  node.outputs = {std::move(type)};
  node.per_trial = per_trial;
  node.path = name;
  return leaf(std::move(node), &inputs_by_name_);
}

Value Graph::parameter(const std::string& name, Shape shape) { return parameter_of(name, {real_, std::move(shape)}); }

Value Graph::parameter_of(const std::string& name, TensorType type) {
  Node node;
  node.kind = NodeKind::parameter;
  node.outputs = {std::move(type)};
  node.per_trial = true;
  node.path = name;
  return leaf(std::move(node), &parameters_by_name_);
}

Value Graph::resident(const std::string& name, TensorType type, const void* elements) {
  Node node;
  node.kind = NodeKind::resident;
  node.outputs = {std::move(type)};
  node.path = name;
  node.resident = elements;
  return leaf(std::move(node), &residents_by_name_);
}

void Graph::require_constant(const Shape& shape) const {
  constexpr int kMostBits = 27;
  if (shape.size() > std::int64_t{1} << kMostBits)
    fail(fmt::format("constant: a table of shape {} has more than 2^{} elements; make it smaller", shape.to_string(),
                     kMostBits));
}

Value Graph::constant_of(TensorType type, std::vector<double> values) {
  if (static_cast<std::int64_t>(values.size()) != type.shape.size())
    fail(fmt::format("constant: {} has {} elements, {} values were given", type.to_string(), type.shape.size(),
                     values.size()));
  Node node;
  node.kind = NodeKind::constant;
  node.outputs = {std::move(type)};
  node.path = path_;
  node.constant = std::move(values);
  return leaf(std::move(node), nullptr);
}

Value Graph::constant(Shape shape, std::vector<double> values) {
  return constant_of({real_, std::move(shape)}, std::move(values));
}

Value Graph::constant_i32(Shape shape, std::vector<std::int64_t> values) {
  return constant_of({DType::i32, std::move(shape)}, {values.begin(), values.end()});
}

Value Graph::constant_boolean(Shape shape, const std::vector<bool>& values) {
  return constant_of({DType::boolean, std::move(shape)}, {values.begin(), values.end()});
}

std::vector<Value> Graph::apply(const Op& op, std::vector<Value> inputs, Attributes attributes) {
  Node node;
  node.op = &op;
  std::vector<TensorType> types;
  for (const Value& input : inputs) {
    JARI_ASSERT(input, fmt::format("{}: an input is an empty Value", op.name));
    JARI_ASSERT(&input.graph() == this, fmt::format("{}: an input is of another graph", op.name));
    types.push_back(input.type());
    node.per_trial = node.per_trial || input.per_trial();
  }
  try {
    node.outputs = op.infer(types, attributes);
    for (const TensorType& type : node.outputs) check_sizes(op.name, type.shape);
  } catch (const ShapeError& error) {
    fail(error.what());
  }
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.path = path_;
  node.span = span_;
  const bool is_scalar = std::ranges::all_of(node.outputs, [](const TensorType& of) { return of.shape.rank() == 0; });
  const int index = op.once || is_scalar ? find_or_add(std::move(node)) : add(std::move(node));
  std::vector<Value> outputs;
  const int count = static_cast<int>(this->node(index).outputs.size());
  for (int i = 0; i < count; ++i) outputs.emplace_back(this, index, i);
  return outputs;
}

int Graph::add(Node node) {
  nodes_.push_back(std::move(node));
  return size() - 1;
}

int Graph::find_or_add(Node node) {
  for (int i = 0; i < size(); ++i) {
    const Node& known = this->node(i);
    if (known.op == node.op && known.inputs == node.inputs &&
        known.attributes.to_string() == node.attributes.to_string())
      return i;
  }
  return add(std::move(node));
}

Value Graph::apply_one(const Op& op, std::vector<Value> inputs, Attributes attributes) {
  const std::vector<Value> outputs = apply(op, std::move(inputs), std::move(attributes));
  JARI_ASSERT(outputs.size() == 1, fmt::format("{} has {} outputs", op.name, outputs.size()));
  return outputs[0];
}

void Graph::fail(const std::string& message) const {
  std::string text = message;
  if (!path_.empty()) text += "\n  at " + path_;
  if (span_) text += "\n  from " + span_.location();
  throw ShapeError(text, message, path_, span_);
}

void Graph::update(Value parameter, Value value) {
  JARI_ASSERT(parameter && value && &parameter.graph() == this && &value.graph() == this, "Values of another graph");
  const Node& target = node(parameter.node());
  if (target.kind != NodeKind::parameter) fail("update: only a parameter is kept from step to step");
  if (parameter.type() != value.type())
    fail(fmt::format("update: parameter '{}' is {}, its new value is {}", target.path, parameter.type().to_string(),
                     value.type().to_string()));
  for (const auto& [other, ignored] : updates_) {
    if (other == parameter) fail(fmt::format("update: parameter '{}' is updated twice", target.path));
  }
  updates_.emplace_back(parameter, value);
}

void Graph::output(const std::string& name, Value value) {
  JARI_ASSERT(value && &value.graph() == this, "a Value of another graph");
  for (const auto& [other, ignored] : outputs_) {
    if (other == name) fail(fmt::format("output '{}' is already there: use another name", name));
  }
  outputs_.emplace_back(name, value);
}

Value Graph::find_input(const std::string& name) const {
  const auto found = inputs_by_name_.find(name);
  if (found == inputs_by_name_.end()) return {};
  return {const_cast<Graph*>(this), found->second, 0};  // a Value only names the node
}

Value Graph::find_parameter(const std::string& name) const {
  const auto found = parameters_by_name_.find(name);
  if (found == parameters_by_name_.end()) return {};
  return {const_cast<Graph*>(this), found->second, 0};
}

std::vector<Value> Graph::parameters() const {
  std::vector<Value> found;
  for (int i = 0; i < size(); ++i) {
    if (node(i).kind == NodeKind::parameter) found.emplace_back(const_cast<Graph*>(this), i, 0);
  }
  return found;
}

std::string Graph::path(const std::string& name) const {
  if (name.empty() || path_.empty()) return path_ + name;
  return path_ + "/" + name;
}

Graph::Scope::Scope(Graph& graph, const std::string& name, SourceSpan span)
    : graph_(graph), path_(graph.path_), span_(graph.span_) {
  graph.path_ = graph.path(name);
  if (span) graph.span_ = std::move(span);
}

Graph::Scope::~Scope() {
  graph_.path_ = std::move(path_);
  graph_.span_ = std::move(span_);
}

}  // namespace jari
