#pragma once
// A handle to one output of one node of a graph. Cheap to copy; valid as long as its graph.

#include "framework/graph/tensor_type.hpp"

namespace jari {

class Graph;

class Value {
 public:
  Value() = default;
  Value(Graph* graph, int node, int output) : graph_(graph), node_(node), output_(output) {}

  explicit operator bool() const { return graph_ != nullptr; }
  Graph& graph() const { return *graph_; }
  int node() const { return node_; }
  int output() const { return output_; }

  const TensorType& type() const;
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  bool per_trial() const;  // differs from trial to trial; the trial axis is not part of the shape

  bool operator==(const Value&) const = default;
  auto operator<=>(const Value&) const = default;

 private:
  Graph* graph_ = nullptr;
  int node_ = -1;
  int output_ = 0;
};

}  // namespace jari
