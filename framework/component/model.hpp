#pragma once
// Family `model`: what learns. Tasks say what they ask of one: a SequenceModel or a WordModel.

#include <string>
#include <vector>

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

  // Hash of the files that its first weights come from; "" if there are none. Part of identities.
  virtual std::string content_hash() const { return ""; }
};

// What the tokens' rows are at a place in a model.
struct HiddenState {
  std::string place;  // "embedding", "block0/attention" (the stream after attention), "block0" (after the MLP)
  Value rows;         // [batch, length, width]
};

// Token ids in, logits out. The caller has opened the scope "model", so that a parameter "embedding" has the path
// "model/embedding"; so too for the hooks above.
class SequenceModel : public Model {
 public:
  // tokens: i32 [batch, length] -> logits, real [batch, length, vocabulary].
  virtual Value logits(const BuildContext& context, Value tokens) const = 0;

  // Rows of the tokens on their way through the model, for looking at it; empty if it has no such places.
  virtual std::vector<HiddenState> hidden_states(const BuildContext& /*context*/, Value /*tokens*/) const { return {}; }

  // Whether no token sees what comes after it, so that a text can be gone on with.
  virtual bool is_causal() const { return false; }

  // One token further: i32 [1], at the place i32 [1] of a sequence of at most context.length -> real [1, vocabulary].
  // What it needs of the tokens before is kept in the graph's state. An invalid Value if it can not: then `logits` of
  // the whole sequence serves.
  virtual Value next_logits(const BuildContext& /*context*/, Value /*token*/, Value /*place*/) const { return {}; }
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
