#pragma once
// The choice of a token from a model's logits.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace jari {

// First the temperature divides the logits, then `top_k` and then `top_p` leave tokens out, as Hugging Face's do.
struct Sampling {
  bool greedy = false;                     // the likeliest token, without a draw
  std::optional<double> temperature = {};  // 1 if not given
  std::optional<std::int64_t> top_k = {};  // the k likeliest
  std::optional<double> top_p = {};        // the fewest that have this probability together (Holtzman et al. 2020)

  // SpecError, in the words of the command line, for numbers out of range and what has no effect beside `greedy`.
  void check() const;
};

struct TokenProbability {
  std::int32_t id;
  double probability;
};

// The tokens that may be drawn, with probabilities that add up to 1: by id, or from the likeliest down where some are
// left out; of equally likely ones the lower id is first. logits: [vocabulary]. Error if one is not a finite number.
std::vector<TokenProbability> next_tokens(std::span<const double> logits, const Sampling& sampling);

// uniform: [0, 1).
std::int32_t draw(std::span<const TokenProbability> tokens, double uniform);

}  // namespace jari
