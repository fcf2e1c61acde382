#include "tests/plugins/components.hpp"

#include <fmt/format.h>

#include "framework/base/hash.hpp"
#include "framework/ops/differentiate.hpp"

namespace jari::test {

const Registry& builtin_components() {
  static const Registry& registry = []() -> const Registry& {
    static Registry all;
    register_builtin_plugins(all);
    return all;
  }();
  return registry;
}

namespace {

// What a required key is given; others take the description's own example.
const std::map<std::string, std::string> kExamples = {{"max_length", "9"},
                                                      {"position", "{type: sin}"},
                                                      {"questions", "[[a, b, c]]"},
                                                      {"negatives", "{type: uniform}"},
                                                      {"pairs", "[[a, b], [c, d]]"}};

std::string example_value(const FieldDescription& field) {
  const auto known = kExamples.find(field.name);
  if (known != kExamples.end()) return known->second;
  if (field.kind != FieldKind::component) return example_text(field);
  return example_block(field.family, builtin_components().names(field.family).front());
}

}  // namespace

std::string example_block(const std::string& family, const std::string& name) {
  std::string block = "{type: " + name;
  const RegistryEntry& entry = *builtin_components().find(family, name);
  if (!entry.example.empty()) block += ", " + entry.example;
  for (const FieldDescription& field : entry.fields)
    if (field.required) block += ", " + field.name + ": " + example_value(field);
  return block + "}";
}

NamedValues per_trial_values(const Graph& graph, const std::vector<SpecNode>& resolved) {
  NamedValues values;
  const std::string prefix = per_trial_input("");
  for (int i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    if (node.kind != NodeKind::input || !node.path.starts_with(prefix)) continue;
    const SpecNode* value = nullptr;
    for (const SpecNode& tree : resolved)
      if (value == nullptr) value = tree.find_path(node.path.substr(prefix.size()));
    if (value == nullptr) throw std::logic_error("no value in the spec for " + node.path);
    values.emplace_back(node.path, std::vector<double>{std::stod(value->text)});
  }
  return values;
}

std::string probe_block(const std::string& position, const ProbeSize& size) {
  return fmt::format("{{type: probe, width: {}, heads: {}, causal: {}, position: {}}}", size.width, size.heads,
                     !bound<Position>(position)->knows_order() && position.find("bag_of_words") == std::string::npos,
                     position);
}

ProbeCase::ProbeCase(const std::string& position, ProbeSize size, DType real)
    : size_(size),
      graph_(real),
      scheme_(std::make_unique<Bound<Position>>(bound<Position>(position))),
      model_(std::make_unique<Bound<Model>>(bound<Model>(probe_block(position, size)))),
      context_{graph_, declarations_, size.vocabulary, size.length, size.trained_length} {
  const RandomStream random{3, hash64("tokens"), 0};
  for (std::int64_t i = 0; i < size.batch * size.length; ++i)
    tokens_.push_back(
        uniform_below(random.bits(static_cast<std::uint64_t>(i)), static_cast<std::uint32_t>(size.vocabulary)));
  const TensorType ids{DType::i32, {size.batch, size.length}};
  const Value tokens = graph_.input("tokens", ids, true), targets = graph_.input("targets", ids, true);
  {
    const Graph::Scope scope(graph_, "model");
    logits_ = dynamic_cast<const SequenceModel&>(**model_).logits(context_, tokens);
  }
  loss_ = cross_entropy(logits_, targets);
}

Value ProbeCase::gradient(const std::string& path) {
  if (gradients_.empty()) {
    const std::vector<Value> parameters = graph_.parameters();
    const std::vector<Value> gradients = differentiate(graph_, loss_, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      gradients_[graph_.node(parameters[i].node()).path] = gradients[i];
  }
  return gradients_.at(path);
}

State ProbeCase::random_state() const {
  State state(graph_, 1);
  for (const State::Entry& entry : state.entries()) {
    std::vector<double> values(static_cast<std::size_t>(entry.type.shape.size()));
    fill_normal({17, entry.name, entry.type.shape, nullptr}, 0, 0.5, values);
    state.write(0, entry, values);
  }
  return state;
}

NamedValues ProbeCase::inputs(std::vector<double> tokens) const {
  std::vector<double> targets(tokens.size(), -1);
  const auto length = static_cast<std::size_t>(size_.length);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if ((i + 1) % length != 0) targets[i] = tokens[i + 1];
  NamedValues values = per_trial_values(graph_, {model_->resolved});
  values.emplace_back("tokens", std::move(tokens));
  values.emplace_back("targets", std::move(targets));
  return values;
}

}  // namespace jari::test
