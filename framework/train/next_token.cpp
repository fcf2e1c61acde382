#include "framework/train/next_token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/base/error.hpp"

namespace jari {
namespace {

void require_finite(std::span<const double> logits) {
  const auto found = std::find_if(logits.begin(), logits.end(), [](double logit) { return !std::isfinite(logit); });
  if (found == logits.end()) return;
  throw Error(
      fmt::format("the model's logit of token {} is {}, so there is nothing to choose by: its weights have "
                  "diverged; take a run that has not",
                  found - logits.begin(), *found));
}

bool is_likelier(const TokenProbability& left, const TokenProbability& right) {
  return left.probability != right.probability ? left.probability > right.probability : left.id < right.id;
}

void normalize(std::vector<TokenProbability>& tokens) {
  double sum = 0;
  for (const TokenProbability& token : tokens) sum += token.probability;
  for (TokenProbability& token : tokens) token.probability /= sum;
}

void keep_likeliest(std::vector<TokenProbability>& tokens, std::size_t count) {
  const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(std::min(count, tokens.size()));
  std::partial_sort(tokens.begin(), end, tokens.end(), is_likelier);
  tokens.erase(end, tokens.end());
  normalize(tokens);
}

// Of tokens from the likeliest down.
void keep_nucleus(std::vector<TokenProbability>& tokens, double top_p) {
  double above = 0;
  std::size_t kept = 0;
  for (; kept < tokens.size() && above < top_p; ++kept) above += tokens[kept].probability;
  tokens.resize(kept);
  normalize(tokens);
}

}  // namespace

void Sampling::check() const {
  if (temperature && !(*temperature > 0 && std::isfinite(*temperature)))
    throw SpecError(
        fmt::format("--temperature {}: expected a number above 0; --greedy takes the likeliest token, "
                    "which is what temperatures tend to at 0",
                    *temperature));
  if (top_k && *top_k < 1)
    throw SpecError(fmt::format("--top-k {}: expected 1 or more; leave it out to draw from all tokens", *top_k));
  if (top_p && !(*top_p > 0 && *top_p <= 1))
    throw SpecError(fmt::format("--top-p {}: expected a probability above 0, and 1 at most", *top_p));
  if (!greedy) return;
  const std::pair<const char*, bool> options[] = {
      {"--temperature", temperature.has_value()}, {"--top-k", top_k.has_value()}, {"--top-p", top_p.has_value()}};
  for (const auto& [name, is_given] : options) {
    if (is_given)
      throw SpecError(
          fmt::format("{} has no effect beside --greedy, which takes the likeliest token: leave one of "
                      "the two out",
                      name));
  }
}

std::vector<TokenProbability> next_tokens(std::span<const double> logits, const Sampling& sampling) {
  require_finite(logits);
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<TokenProbability> tokens;
  tokens.reserve(logits.size());
  for (std::size_t id = 0; id < logits.size(); ++id)
    tokens.push_back(
        {static_cast<std::int32_t>(id), std::exp((logits[id] - largest) / sampling.temperature.value_or(1))});
  normalize(tokens);
  const std::size_t all = tokens.size();
  const bool has_nucleus = sampling.top_p && *sampling.top_p < 1;
  if (sampling.greedy) {
    keep_likeliest(tokens, 1);
  } else if (sampling.top_k || has_nucleus) {
    keep_likeliest(tokens, sampling.top_k ? static_cast<std::size_t>(*sampling.top_k) : all);
  }
  if (has_nucleus) keep_nucleus(tokens, *sampling.top_p);
  return tokens;
}

std::int32_t draw(std::span<const TokenProbability> tokens, double uniform) {
  double below = 0;
  for (const TokenProbability& token : tokens) {
    below += token.probability;
    if (uniform < below) return token.id;
  }
  return tokens.back().id;  // the sum is rounded
}

}  // namespace jari
