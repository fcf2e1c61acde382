#include "framework/train/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/philox.hpp"
#include "framework/train/token_predictor.hpp"

namespace jari {
namespace {

constexpr std::int64_t kMost = 1'000'000'000;  // of anything: sums are in range

std::vector<std::int32_t> prompt_ids(const LanguageModelRun& run, const std::string& prompt) {
  std::vector<std::int32_t> ids = run.text().encode(prompt);
  if (!ids.empty()) return ids;
  throw SpecError(prompt.empty()
                      ? "the prompt is empty, and the model goes on from at least one token: give --prompt a "
                        "text such as the beginning of a sentence"
                      : "the tokenizer finds no piece in the prompt, and the model goes on from at least one "
                        "token: give --prompt a text with more in it");
}

void require_room(std::int64_t prompt, std::int64_t tokens, std::int64_t context, bool is_trained_length) {
  if (prompt + tokens <= context) return;
  const std::string limit = fmt::format("the context of {}{}", context, is_trained_length ? " (train.length)" : "");
  const std::string way_out =
      fmt::format("--slide (each token sees the {} before it), or --context {} where the positional scheme can",
                  context, prompt + tokens);
  if (prompt >= context)
    throw SpecError(
        fmt::format("the prompt has {} tokens, which leaves no room for new ones in {}: shorten it, or ask "
                    "for {}",
                    prompt, limit, way_out));
  throw SpecError(fmt::format("the prompt's {} tokens and {} new ones are {}, more than {}: ask for --tokens {}, {}",
                              prompt, tokens, prompt + tokens, limit, context - prompt, way_out));
}

void require_count(const char* name, std::int64_t value) {
  if (value < 1 || value > kMost) throw SpecError(fmt::format("{} {}: expected 1 to {}", name, value, kMost));
}

// Draws of one sample, token by token.
class Chooser {
 public:
  Chooser(const Sampling& sampling, std::int64_t seed, std::int64_t sample)
      : sampling_(sampling), random_{static_cast<std::uint64_t>(seed), hash64(fmt::format("generate/{}", sample)), 0} {}

  std::int32_t operator()(std::span<const double> logits) {
    const PhiloxBlock bits = random_.block(0);
    ++random_.step;
    return draw(next_tokens(logits, sampling_), uniform_f64(bits.word[0], bits.word[1]));
  }

 private:
  const Sampling& sampling_;
  RandomStream random_;
};

}  // namespace

void GenerateOptions::check() const {
  require_count("--tokens", tokens);
  if (samples) require_count("--samples", *samples);
  if (context) require_count("--context", *context);
  if (seed && *seed < 0) throw SpecError(fmt::format("--seed {}: expected 0 or more", *seed));
  sampling.check();
  if (!sampling.greedy) return;
  const std::pair<const char*, bool> options[] = {{"--seed", seed.has_value()}, {"--samples", samples.has_value()}};
  for (const auto& [name, is_given] : options) {
    if (is_given)
      throw SpecError(
          fmt::format("{} has no effect beside --greedy, which draws nothing: leave one of the two out", name));
  }
}

void generate(const LanguageModelRun& run, const std::string& prompt, const GenerateOptions& options, ThreadPool& pool,
              const std::function<void(const GeneratedText&)>& visit) {
  options.check();
  const std::vector<std::int32_t> ids = prompt_ids(run, prompt);
  const auto size = static_cast<std::int64_t>(ids.size());
  const std::int64_t context = options.context.value_or(run.trained_length());
  if (!options.slide) require_room(size, options.tokens, context, !options.context);
  const bool fits = size + options.tokens <= context;
  TokenPredictor predictor(run, std::min(context, size + options.tokens), options.cached && fits);
  for (std::int64_t sample = 0; sample < options.samples.value_or(1); ++sample) {
    std::vector<std::int32_t> sequence = ids;
    const auto start = std::chrono::steady_clock::now();
    predictor.extend(sequence, options.tokens, Chooser(options.sampling, options.seed.value_or(0), sample), pool);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    visit({run.text().decode(sequence), options.tokens, taken.count(), predictor.cached()});
  }
}

}  // namespace jari
