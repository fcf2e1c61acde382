#pragma once
// What an operation is: its shape rule, its gradient rule and, for a composite one, its definition in other ops.
// Kernels belong to the devices (framework/backend). All ops are listed in framework/ops/ops.def.

#include <optional>
#include <vector>

#include "framework/graph/attributes.hpp"
#include "framework/graph/tensor_type.hpp"
#include "framework/graph/value.hpp"

namespace jari {

// What a gradient rule sees. `inputs` and `outputs` are the node's own Values in the graph being extended.
struct GradientContext {
  Graph& graph;
  const std::vector<Value>& inputs;
  const std::vector<Value>& outputs;
  const std::vector<Value>& output_gradients;  // invalid Value: that output has no influence on the loss
  const Attributes& attributes;
  const std::vector<bool>& wanted;  // by input: whether its gradient is asked for
};

// An operand of which an op reads only the rows that another one, i32 ids, names (below 0: none).
struct RowRead {
  int table, ids;
};

struct Op {
  const char* name;

  // Types of the outputs, from those of the inputs. Throws ShapeError: "matmul: inner sizes differ: ...".
  std::vector<TensorType> (*infer)(const std::vector<TensorType>& inputs, const Attributes& attributes);

  // Gradients by input (an invalid Value where there is none, e.g. for token ids). Null: not differentiable.
  std::vector<Value> (*gradient)(const GradientContext& context) = nullptr;

  // The same outputs in simpler ops: definition and oracle of a composite op. Null: primitive.
  std::vector<Value> (*body)(Graph& graph, const std::vector<Value>& inputs, const Attributes& attributes) = nullptr;

  // Input whose memory an output may take over when nothing else reads it later (-1: none). By output.
  // Pointwise kernels may do so for any input of the output's own type.
  std::vector<int> in_place = {};
  bool pointwise = false;

  std::vector<RowRead> row_reads = {};

  // Applied again to the same inputs with the same attributes it gives the same node: what makes batches, of which the
  // optimizer asks for the ids before the model does.
  bool once = false;

  // An optimizer's step, or a part of it: on a device its kernel leaves trials as they are that are not to run.
  bool steps = false;

  // Whether its outputs stand for the same as the inputs that they replace: writing them is no step of training.
  bool settles = false;
};

}  // namespace jari
