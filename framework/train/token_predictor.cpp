#include "framework/train/token_predictor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/train/record.hpp"
#include "framework/train/trial.hpp"
#include "framework/train/trial_inputs.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {
namespace {

constexpr const char* kToken = "token";    // i32 [1], of a cached predictor
constexpr const char* kPlace = "place";    // i32 [1], of the last token
constexpr const char* kLogits = "logits";  // real [1, vocabulary]

}  // namespace

TokenPredictor::TokenPredictor(const LanguageModelRun& run, std::int64_t length, bool cached)
    : length_(length), cached_(cached), graph_(real_type(run.precision())) {
  Declarations declarations;
  graph_.output(kLogits, build(run, declarations));
  program_ = std::make_unique<Program>(graph_);
  state_ = std::make_unique<State>(graph_, 1);
  for (const ParameterDeclaration& declaration : declarations.all()) {
    if (!restore_weights(run.record(), declaration.path, *state_, 0))
      throw StoreError(fmt::format("{}: holds no weights of {}, which the model needs; train it again", run.path(),
                                   declaration.path));
  }
  const ResolvedValues values(run.resolved());
  for (const std::string& path : per_trial_paths_of(graph_))
    hyperparameters_.emplace_back(per_trial_input(path), values.number(path));
}

Value TokenPredictor::build(const LanguageModelRun& run, Declarations& declarations) {
  const std::int64_t vocabulary = run.text().vocabulary().size();
  const BuildContext context{.graph = graph_,
                             .declarations = declarations,
                             .vocabulary = vocabulary,
                             .length = length_,
                             .trained_length = run.trained_length()};
  const Graph::Scope scope(graph_, "model");
  const Value place = graph_.input(kPlace, {DType::i32, {1}}, /*per_trial=*/true);
  if (cached_) {
    const Value token = graph_.input(kToken, {DType::i32, {1}}, /*per_trial=*/true);
    if (const Value logits = run.model().next_logits(context, token, place)) return logits;
    cached_ = false;
  }
  const Value tokens = graph_.input(kTokens, {DType::i32, {1, length_}}, /*per_trial=*/true);
  return gather(reshape(run.model().logits(context, tokens), {length_, vocabulary}), place);
}

void TokenPredictor::extend(std::vector<std::int32_t>& tokens, std::int64_t count, const Choose& choose,
                            ThreadPool& pool) {
  const auto size = static_cast<std::int64_t>(tokens.size());
  const std::int64_t end = size + count - 1;  // the last token is not looked at
  JARI_ASSERT(size > 0, "a sequence begins with a token");
  JARI_ASSERT(!cached_ || end <= length_, "kept keys stand at their places");
  const std::int64_t begin = cached_ ? known_tokens(tokens) : size - 1;
  kept_.clear();  // until all has gone well
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t step, const Tensors& inputs) { feed(inputs, tokens, step); };
  hooks.fetch = [&](int, std::int64_t step, const Tensors& outputs) {
    if (step + 1 == static_cast<std::int64_t>(tokens.size())) tokens.push_back(choose(read_tensor(outputs, kLogits)));
    return true;
  };
  const int trials[] = {0};
  program_->run(*state_, trials, begin, end, hooks, pool);
  if (cached_) kept_.assign(tokens.begin(), tokens.begin() + end);
}

// Inputs of the step that looks at the tokens up to the `last`.
void TokenPredictor::feed(const Tensors& inputs, std::span<const std::int32_t> tokens, std::int64_t last) const {
  for (const auto& [name, value] : hyperparameters_) write_scalar(inputs, name, value);
  if (cached_) {
    inputs.get<std::int32_t>(kToken)[0] = tokens[static_cast<std::size_t>(last)];
    inputs.get<std::int32_t>(kPlace)[0] = static_cast<std::int32_t>(last);
    return;
  }
  const std::int64_t first = std::max<std::int64_t>(0, last + 1 - length_);
  const auto seen = tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last + 1 - first));
  const std::span<std::int32_t> row = inputs.get<std::int32_t>(kTokens);
  // What stands behind the last token is not seen by it.
  std::fill(std::copy(seen.begin(), seen.end(), row.begin()), row.end(), 0);
  inputs.get<std::int32_t>(kPlace)[0] = static_cast<std::int32_t>(last - first);
}

// How many tokens at the beginning need not be looked at again. The last one does: its logits are not kept.
std::int64_t TokenPredictor::known_tokens(std::span<const std::int32_t> tokens) const {
  const std::span<const std::int32_t> before_last = tokens.first(tokens.size() - 1);
  const auto [known, end] = std::mismatch(before_last.begin(), before_last.end(), kept_.begin(), kept_.end());
  return known - before_last.begin();
}

}  // namespace jari
