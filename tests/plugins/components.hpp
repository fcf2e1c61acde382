#pragma once
// Components bound from texts, as a spec would, and the probe around them.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plugin_api.hpp"
#include "framework/program/program.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace jari::test {

const Registry& builtin_components();

// "{type: rel, max_length: 9}": the component with a value for each key that has no default.
std::string example_block(const std::string& family, const std::string& name);

template <class Family>
struct Bound {
  Slot<Family> slot;
  SpecNode resolved;  // of the whole text; the slot's own is at "slot"
  const Family* operator->() const { return &*slot; }
  const Family& operator*() const { return *slot; }
};

template <class Family>
struct SlotParameters {
  Slot<Family> slot;
  template <class F>
  void fields(F& f) {
    f("slot", slot, "the component", required);
  }
};

// Throws SpecError.
template <class Family>
Bound<Family> bound(const std::string& block) {
  Diagnostics diagnostics;
  const SpecNode node = read_yaml_text("slot: " + block + "\n", "test.yaml", diagnostics);
  diagnostics.throw_if_any();
  Bound<Family> result;
  SlotParameters<Family> parameters;
  Binder(&builtin_components(), diagnostics).bind(node, "", parameters, result.resolved);
  diagnostics.throw_if_any();
  result.slot = parameters.slot;
  return result;
}

// Values of the graph's inputs "spec:...", from the first of the resolved trees that has them.
NamedValues per_trial_values(const Graph& graph, const std::vector<SpecNode>& resolved);

struct ProbeSize {
  std::int64_t vocabulary = 5, width = 8, heads = 1, batch = 2, length = 5, trained_length = 5;
};

// A probe around a positional scheme, its loss (each token names its right neighbor) and the gradients.
class ProbeCase {
 public:
  explicit ProbeCase(const std::string& position, ProbeSize size = {}, DType real = DType::f64);

  Graph& graph() { return graph_; }
  const Declarations& declarations() const { return declarations_; }
  const BuildContext& context() const { return context_; }
  const Position& scheme() const { return **scheme_; }
  const ProbeSize& size() const { return size_; }
  Value logits() const { return logits_; }
  Value loss() const { return loss_; }
  Value gradient(const std::string& path);

  // Every parameter N(0, 0.5^2) from its path, whatever its own first values, so that nothing is zero by chance.
  State random_state() const;
  std::vector<double> tokens() const { return tokens_; }
  NamedValues inputs(std::vector<double> tokens) const;
  NamedValues inputs() const { return inputs(tokens_); }

 private:
  ProbeSize size_;
  Graph graph_;
  Declarations declarations_;
  std::unique_ptr<Bound<Position>> scheme_;
  std::unique_ptr<Bound<Model>> model_;
  BuildContext context_;
  std::vector<double> tokens_;
  Value logits_, loss_;
  std::map<std::string, Value> gradients_;
};

// Spec block of the scheme, for a model that sees both ways where the scheme can.
std::string probe_block(const std::string& position, const ProbeSize& size);

}  // namespace jari::test
