#pragma once
// Family `model`: token ids in, logits out, as a graph.

#include "framework/component/build_context.hpp"

namespace jari {

class Model {
 public:
  static constexpr const char* kFamily = "model";
  virtual ~Model() = default;

  // tokens: i32 [batch, length] -> logits, real [batch, length, vocabulary]. The caller has opened the scope "model",
  // so that a parameter "embedding" has the path "model/embedding"; so too for the hooks below.
  virtual Value logits(const BuildContext& context, Value tokens) const = 0;

  // What the scheme under `position:` adds to zeros, [length, width], for looking at it; an invalid Value if it adds
  // nothing to embeddings (or the model has no such place).
  virtual Value position_table(const BuildContext& /*context*/, std::int64_t /*length*/) const { return {}; }

  // What the scheme adds to the scores of queries and keys of zeros, [heads or 1, length, length], for looking at it;
  // an invalid Value if it adds nothing to scores (or the model has no such place).
  virtual Value position_bias(const BuildContext& /*context*/, std::int64_t /*length*/) const { return {}; }
};

}  // namespace jari
