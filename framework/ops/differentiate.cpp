#include "framework/ops/differentiate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "framework/ops/ops.hpp"

namespace jari {

namespace {

// Gradients by Value, as they come together from the Value's uses.
using Gradients = std::map<Value, Value>;

void accumulate(Gradients& gradients, Value of, Value gradient) {
  Value& sum = gradients[of];
  sum = sum ? sum + gradient : gradient;
}

// Which nodes of [first, last] depend on a target through real Values.
std::vector<bool> dependents(const Graph& graph, int last, const std::vector<Value>& targets) {
  std::vector<bool> depends(static_cast<std::size_t>(last + 1), false);
  for (const Value& target : targets) {
    if (target.node() <= last && is_real(target.dtype())) depends[static_cast<std::size_t>(target.node())] = true;
  }
  for (int i = 0; i <= last; ++i) {
    const Node& node = graph.node(i);
    const bool real_output = std::any_of(node.outputs.begin(), node.outputs.end(),
                                         [](const TensorType& type) { return is_real(type.dtype); });
    const bool reached = std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Value& input) {
      return is_real(input.dtype()) && depends[static_cast<std::size_t>(input.node())];
    });
    if (real_output && reached) depends[static_cast<std::size_t>(i)] = true;
  }
  return depends;
}

// Takes `gradients` of later Values back through the nodes [first, last], to the targets.
void pull_back(Graph& graph, int first, int last, const std::vector<Value>& targets, Gradients& gradients);

// The rule of a composite op without one of its own: that of its body.
std::vector<Value> gradient_through_body(const Node& node, const GradientContext& context) {
  Graph& graph = context.graph;
  const int first = graph.size();
  const std::vector<Value> outputs = node.op->body(graph, context.inputs, context.attributes);
  const int last = graph.size() - 1;
  Gradients gradients;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (context.output_gradients[i]) accumulate(gradients, outputs[i], context.output_gradients[i]);
  }
  std::vector<Value> targets;
  for (std::size_t i = 0; i < context.inputs.size(); ++i) {
    if (context.wanted[i]) targets.push_back(context.inputs[i]);
  }
  pull_back(graph, first, last, targets, gradients);

  std::vector<Value> results(context.inputs.size());
  for (std::size_t i = 0; i < context.inputs.size(); ++i) {
    const auto found = gradients.find(context.inputs[i]);
    if (!context.wanted[i] || found == gradients.end()) continue;
    results[i] = found->second;
    gradients.erase(found);  // an input that is given twice: the sum belongs to one of the two places
  }
  return results;
}

std::vector<Value> input_gradients(const Node& node, const GradientContext& context) {
  if (node.op->gradient == nullptr && node.op->body == nullptr)
    throw ShapeError(fmt::format("{}: has no gradient rule, but the loss depends on a parameter through it{}{}",
                                 node.op->name, node.path.empty() ? "" : "\n  at " + node.path,
                                 node.span ? "\n  from " + node.span.location() : ""));
  std::vector<Value> results = node.op->gradient ? node.op->gradient(context) : gradient_through_body(node, context);
  JARI_ASSERT(
      results.size() == context.inputs.size(),
      fmt::format("{} has {} inputs, its gradient rule gave {}", node.op->name, context.inputs.size(), results.size()));
  for (std::size_t i = 0; i < results.size(); ++i) {
    JARI_ASSERT(!results[i] || results[i].type() == context.inputs[i].type(),
                fmt::format("{}: input {} is {}, its gradient {}", node.op->name, i,
                            context.inputs[i].type().to_string(), results[i].type().to_string()));
  }
  return results;
}

void pull_back(Graph& graph, int first, int last, const std::vector<Value>& targets, Gradients& gradients) {
  const std::vector<bool> depends = dependents(graph, last, targets);
  for (int i = last; i >= first; --i) {
    const Node& node = graph.node(i);
    if (!depends[static_cast<std::size_t>(i)] || node.kind != NodeKind::op) continue;
    std::vector<Value> outputs, output_gradients;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      outputs.emplace_back(&graph, i, static_cast<int>(k));
      const auto found = gradients.find(outputs.back());
      output_gradients.push_back(found == gradients.end() ? Value() : found->second);
    }
    if (std::none_of(output_gradients.begin(), output_gradients.end(), [](const Value& g) { return bool(g); }))
      continue;
    std::vector<bool> wanted;
    for (const Value& input : node.inputs)
      wanted.push_back(is_real(input.dtype()) && depends[static_cast<std::size_t>(input.node())]);
    if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) continue;  // a target itself

    const std::string scope_name = node.path == graph.path() ? "" : node.path;  // a body has the path of its op already
    const Graph::Scope scope(graph, scope_name, node.span);
    const std::vector<Value> results =
        input_gradients(node, {graph, node.inputs, outputs, output_gradients, node.attributes, wanted});
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (wanted[k] && results[k]) accumulate(gradients, node.inputs[k], results[k]);
    }
  }
}

}  // namespace

std::vector<Value> differentiate(Graph& graph, Value loss, const std::vector<Value>& parameters) {
  if (loss.shape().rank() != 0 || !is_real(loss.dtype()))
    throw ShapeError(
        fmt::format("differentiate: the loss must be a real scalar, it is {}: take sum_all or mean_all of it",
                    loss.type().to_string()));
  const Graph::Scope scope(graph, "gradient");
  Gradients gradients;
  gradients[loss] = scalar_like(loss, 1);
  pull_back(graph, 0, loss.node(), parameters, gradients);
  std::vector<Value> results;
  for (const Value& parameter : parameters) {
    const auto found = gradients.find(parameter);
    results.push_back(found == gradients.end() ? zeros_like(parameter) : found->second);
  }
  return results;
}

Value reduce_to(Value gradient, const Shape& shape) {
  const int extra = gradient.shape().rank() - shape.rank();
  std::vector<int> axes;
  for (int axis = 0; axis < gradient.shape().rank(); ++axis) {
    if (axis < extra || (shape[axis - extra] == 1 && gradient.shape()[axis] != 1)) axes.push_back(axis);
  }
  if (axes.empty()) return gradient;
  return reshape(reduce_sum(gradient, axes), shape);
}

Value scalar_like(Value like, double value) { return like.graph().constant_of({like.dtype(), {}}, {value}); }

Value zeros_like(Value like) { return broadcast_to(scalar_like(like, 0), like.shape()); }

}  // namespace jari
