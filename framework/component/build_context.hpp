#pragma once
// What a component is given when it adds its part to a graph. Context structs, so that signatures never change.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "framework/component/init.hpp"
#include "framework/graph/graph.hpp"
#include "framework/ops/ops.hpp"
#include "framework/spec/per_trial.hpp"
#include "framework/text/token_file.hpp"

namespace jari {

// A parameter as a component declared it: how its first values come about, what its axes mean.
struct ParameterDeclaration {
  std::string path;  // "model/position/table"
  Shape shape;
  Initializer init;
  std::vector<std::string> axes;  // {"position", "width"}
};

struct BuildContext;

// Collects the parameters that the components of one graph declare.
class Declarations {
 public:
  void add(ParameterDeclaration declaration);
  const std::vector<ParameterDeclaration>& all() const { return all_; }
  const ParameterDeclaration* find(const std::string& path) const;

 private:
  std::vector<ParameterDeclaration> all_;
};

// First values that take the place of those that components name, as of a checkpoint.
class FirstValues {
 public:
  virtual ~FirstValues() = default;
  // For the parameter that is declared as `name` in the innermost scope. Fails (BuildContext::fail) where its shape
  // does not fit.
  virtual Initializer of(const BuildContext& context, const std::string& name, const Shape& shape) const = 0;
};

struct BuildContext {
  Graph& graph;
  Declarations& declarations;
  std::int64_t vocabulary = 0;              // distinct token ids
  std::int64_t length = 0;                  // tokens a sequence in this graph
  std::int64_t trained_length = 0;          // tokens a sequence in training (what positions "seen" means)
  bool training = false;                    // dropout and its like are on
  const TokenizedCorpus* corpus = nullptr;  // of the spec's `data`; null without it
  // Values to use in place of parameters, by path: what Optimizer::prepare made of them.
  const std::map<std::string, Value>* prepared = nullptr;
  const FirstValues* first_values = nullptr;  // null: the components' own
  std::int64_t part = 0;                      // of a step's batch, where it is trained on part by part

  // Declares a parameter under the path of the innermost Graph::Scope.
  Value parameter(const std::string& name, Shape shape, Initializer init, std::vector<std::string> axes) const;

  // A parameter of numbers that are counted, zeros at first; no gradient goes to it.
  Value counter(const std::string& name, Shape shape, std::vector<std::string> axes) const;

  // Dropout whose draws are named by the path of the innermost scope, `name` and the part of the batch.
  Value dropout(Value x, const std::string& name, const PerTrial<double>& rate) const;

  // A hyperparameter that may differ from trial to trial, as a real scalar Value.
  Value per_trial(const PerTrial<double>& hyperparameter) const;

  // Throws a ShapeError: the message, then path and spec line of the innermost scope.
  [[noreturn]] void fail(const std::string& message) const;
};

// Name of the graph input that `per_trial` makes for a hyperparameter: "spec:" and its path in the spec.
std::string per_trial_input(const std::string& spec_path);

}  // namespace jari
