#pragma once
// Family `model`: what learns. Tasks say what they ask of one: a SequenceModel or a WordModel.

#include "framework/component/build_context.hpp"

namespace jari {

class Model {
 public:
  static constexpr const char* kFamily = "model";
  virtual ~Model() = default;

  // What the scheme under `position:` adds to zeros, [length, width], for looking at it; an invalid Value if it adds
  // nothing to embeddings (or the model has no such place).
  virtual Value position_table(const BuildContext& /*context*/, std::int64_t /*length*/) const { return {}; }

  // What the scheme adds to the scores of queries and keys of zeros, [heads or 1, length, length], for looking at it;
  // an invalid Value if it adds nothing to scores (or the model has no such place).
  virtual Value position_bias(const BuildContext& /*context*/, std::int64_t /*length*/) const { return {}; }
};

// Token ids in, logits out. The caller has opened the scope "model", so that a parameter "embedding" has the path
// "model/embedding"; so too for the hooks above.
class SequenceModel : public Model {
 public:
  // tokens: i32 [batch, length] -> logits, real [batch, length, vocabulary].
  virtual Value logits(const BuildContext& context, Value tokens) const = 0;
};

// Words and their neighbors: from what is given comes a vector, whose products with rows of a table score what is asked
// for. The caller has opened the scope "model".
class WordModel : public Model {
 public:
  // Whether the neighbors are given and the word is asked for; otherwise it is the other way round.
  virtual bool predicts_center() const = 0;
  // given: i32 [batch, count], -1 for none -> real [batch, width].
  virtual Value hidden(const BuildContext& context, Value given) const = 0;
  // Rows of what is asked for: [vocabulary, width].
  virtual Value output_table(const BuildContext& context) const = 0;
};

}  // namespace jari
