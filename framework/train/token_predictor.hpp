#pragma once
// A trained language model, asked for the token after a sequence.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/program/program.hpp"
#include "framework/train/language_model_run.hpp"

namespace jari {

class TokenPredictor {
 public:
  // The next token's id, from its logits [vocabulary].
  using Choose = std::function<std::int32_t(std::span<const double> logits)>;

  // length: tokens that the model sees at most. cached: it computes one token at a time and keeps the keys and values
  // of those before; otherwise, and where a model can not do that, whole sequences anew. The run must outlive it.
  // Throws ShapeError if the model can not see that many tokens, StoreError if the run lacks weights that it needs.
  TokenPredictor(const LanguageModelRun& run, std::int64_t length, bool cached);

  bool cached() const { return cached_; }
  std::int64_t length() const { return length_; }

  // Appends `count` tokens to at least one, each chosen from what the model says of those before it. Of more than
  // `length` it sees the last ones, which only an uncached one can: their places have changed.
  void extend(std::vector<std::int32_t>& tokens, std::int64_t count, const Choose& choose, ThreadPool& pool);

 private:
  Value build(const LanguageModelRun& run, Declarations& declarations);
  void feed(const Tensors& inputs, std::span<const std::int32_t> tokens, std::int64_t last) const;
  std::int64_t known_tokens(std::span<const std::int32_t> tokens) const;

  std::int64_t length_;
  bool cached_;
  Graph graph_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<State> state_;
  std::vector<std::pair<std::string, double>> hyperparameters_;  // by name of the input
  std::vector<std::int32_t> kept_;                               // tokens whose keys and values are in the state
};

}  // namespace jari
