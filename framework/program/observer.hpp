#pragma once
// Looking into a program while it runs, node by node: for debugging. The bits do not change.

#include <cstdint>
#include <span>
#include <string>

#include "framework/base/source_span.hpp"
#include "framework/graph/tensor_type.hpp"

namespace jari {

// An operand of a kernel call.
struct TensorView {
  const TensorType* type;
  const void* data;  // row-major
  const char* leaf;  // name of the parameter or program input that it is; "" for computed values and constants
};

// One kernel call. The views live until the callback returns.
struct NodeView {
  const std::string& path;  // "model/attention/scores"
  const char* op;
  const SourceSpan& span;  // the spec line that made it
  std::span<const TensorView> inputs, outputs;
};

// Called on the threads that run the trials, at one time for different trials. An output may lie in an input's memory.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(int /*trial*/, std::int64_t /*step*/, const NodeView& /*node*/) {}
  virtual void after(int /*trial*/, std::int64_t /*step*/, const NodeView& /*node*/) {}
};

}  // namespace jari
