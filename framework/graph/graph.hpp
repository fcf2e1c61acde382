#pragma once
// What a model computes: nodes in SSA form, built once by plain C++ code, before any memory is taken.
//
// The trial axis is not part of any shape: a Value is `shared` or `per_trial`, and no op can index, reduce or permute
// trials, so fused trials can not mix.

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "framework/base/source_span.hpp"
#include "framework/graph/attributes.hpp"
#include "framework/graph/op.hpp"
#include "framework/graph/value.hpp"

namespace jari {

enum class NodeKind { op, input, parameter, constant, resident };

struct Node {
  NodeKind kind = NodeKind::op;
  const Op* op = nullptr;  // of NodeKind::op
  std::vector<Value> inputs;
  Attributes attributes;
  std::vector<TensorType> outputs;
  bool per_trial = false;
  std::string path;                // "model/attention/scores"; the name of an input, parameter or resident
  SourceSpan span;                 // the spec line that made it
  std::vector<double> constant;    // of NodeKind::constant, row-major (i32 and boolean values too)
  const void* resident = nullptr;  // of NodeKind::resident: its elements, on the host
};

// What a product of f32 matrices rounds its operands to: not at all, to the 10 bits after the point of NVIDIA's tf32,
// or to the 7 of bf16. Sums, and all that is stored, are f32 in any case.
enum class Products { exact, tf32, bf16 };

class Graph {
 public:
  // `real` is the element type of parameters and real constants: f32, or f64 for reference runs.
  explicit Graph(DType real = DType::f32, Products products = Products::exact) : real_(real), products_(products) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  DType real() const { return real_; }
  Products products() const { return products_; }

  // Whether ops may be built in a cheaper form than asked for, equal within rounding (framework/ops/rewrite.hpp).
  bool rewrites() const { return rewrites_; }
  void set_rewrites(bool on) { rewrites_ = on; }

  // Leaves. Names are unique; asking again for an input or parameter of the same name and type gives the same Value,
  // another type is a ShapeError.
  Value input(const std::string& name, TensorType type, bool per_trial);
  Value parameter(const std::string& name, Shape shape);               // real, per trial, kept from step to step
  Value parameter_of(const std::string& name, TensorType type);        // the same of any element type: counters
  Value constant(Shape shape, std::vector<double> values);             // real, shared
  Value constant(double value) { return constant(Shape{}, {value}); }  // scalar
  Value constant_of(TensorType type, std::vector<double> values);      // shared, of any element type
  Value constant_i32(Shape shape, std::vector<std::int64_t> values);
  Value constant_boolean(Shape shape, const std::vector<bool>& values);
  // Data that lie on the host already, too large for a constant: a corpus. Shared. They are read in place, a device
  // takes one copy, and they stay as they are as long as a program of this graph lives.
  Value resident(const std::string& name, TensorType type, const void* elements);
  // Throws a ShapeError if a constant of that shape is more than a host should compute: call it before computing one.
  void require_constant(const Shape& shape) const;

  // Applies an op: checks, infers, appends. A ShapeError gets the node's path and spec line added. A scalar that is
  // there already, such as the learning rate times its schedule for each parameter, is that one, as is a node of
  // Op::once.
  std::vector<Value> apply(const Op& op, std::vector<Value> inputs, Attributes attributes = {});
  Value apply_one(const Op& op, std::vector<Value> inputs, Attributes attributes = {});  // of an op with one output
  // Throws a ShapeError with the current path and spec line added.
  [[noreturn]] void fail(const std::string& message) const;

  // `update(parameter, value)`: after a run, the parameter holds the value. Once a parameter.
  void update(Value parameter, Value value);
  const std::vector<std::pair<Value, Value>>& updates() const { return updates_; }

  // `output("loss", value)`: the host can read it after a run. Names are unique.
  void output(const std::string& name, Value value);
  const std::vector<std::pair<std::string, Value>>& outputs() const { return outputs_; }

  const Node& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  Value find_input(const std::string& name) const;  // invalid Value if there is none
  Value find_parameter(const std::string& name) const;
  std::vector<Value> parameters() const;  // in order of creation

  std::string to_string() const;  // one line a node

  // Path and spec line of the nodes made while it lives: Scope scope(graph, "attention", span);
  class Scope {
   public:
    Scope(Graph& graph, const std::string& name, SourceSpan span = {});
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Graph& graph_;
    std::string path_;
    SourceSpan span_;
  };
  const std::string& path() const { return path_; }  // of the innermost scope, "model/attention"
  std::string path(const std::string& name) const;   // that and `name`, joined with '/'
  const SourceSpan& span() const { return span_; }

 private:
  Value leaf(Node node, std::map<std::string, int>* names);
  int add(Node node);  // its number
  int find_or_add(Node node);

  DType real_;
  Products products_;
  bool rewrites_ = true;
  std::deque<Node> nodes_;
  std::map<std::string, int> inputs_by_name_, parameters_by_name_, residents_by_name_;
  std::vector<std::pair<Value, Value>> updates_;
  std::vector<std::pair<std::string, Value>> outputs_;
  std::string path_;
  SourceSpan span_;
};

}  // namespace jari
