#include "framework/component/sentence_analysis.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "framework/component/word_analysis.hpp"

namespace jari {
namespace {

SentenceTokens tokens_of(const AnalysisContext& context, const std::string& text) {
  SentenceTokens tokens{context.ids(text), {}};
  for (const std::int32_t id : tokens.ids) tokens.pieces.push_back(context.words[static_cast<std::size_t>(id)]);
  return tokens;
}

// "" or why the model can not be given the i-th sentence.
std::string refuse_length(std::size_t i, std::size_t length, std::int64_t trained_length) {
  if (length == 0) return fmt::format("sentence {} has no token", i);
  if (trained_length > 0 && length > static_cast<std::size_t>(trained_length))
    return fmt::format("sentence {} has {} tokens, and the model was trained on {} a sequence; shorten the sentence", i,
                       length, trained_length);
  return "";
}

// Position of the last of the pieces that begin at `first` and are together `form`; nothing if there are none.
std::optional<std::size_t> end_of_word(const std::vector<std::string>& pieces, std::size_t first,
                                       std::string_view form) {
  for (std::size_t i = first; i < pieces.size() && !form.empty() && form.starts_with(pieces[i]); ++i) {
    form.remove_prefix(pieces[i].size());
    if (form.empty()) return i;
  }
  return std::nullopt;
}

// Nothing if the model has no hidden states.
std::optional<HiddenRows> hidden_rows(const AnalysisContext& context, const SequenceModel& model,
                                      const SentenceTokens& sentence) {
  const auto length = static_cast<std::int64_t>(sentence.ids.size());
  HiddenRows result;
  std::optional<AnalysisArray> rows = context.evaluate(length, [&](const BuildContext& build) -> Value {
    const Value tokens = build.graph.constant_i32({1, length}, {sentence.ids.begin(), sentence.ids.end()});
    std::vector<Value> states;
    for (const HiddenState& state : model.hidden_states(build, tokens)) {
      result.places.push_back(state.place);
      states.push_back(state.rows);
    }
    return states.empty() ? Value() : concat(states, 0);
  });
  if (!rows) return std::nullopt;
  result.length = sentence.ids.size();
  result.width = static_cast<std::size_t>(rows->shape[2]);
  result.values = std::move(rows->values);
  return result;
}

}  // namespace

std::vector<Occurrence> occurrences_of(const std::string& word, const std::vector<SentenceTokens>& sentences) {
  for (const std::string& form : written_forms(word)) {
    std::vector<Occurrence> found;
    for (std::size_t i = 0; i < sentences.size(); ++i)
      for (std::size_t first = 0; first < sentences[i].pieces.size(); ++first)
        if (const auto last = end_of_word(sentences[i].pieces, first, form)) found.push_back({i, *last});
    if (!found.empty()) return found;
  }
  return {};
}

WordInSentences word_in_sentences(const AnalysisContext& context, const std::string& word,
                                  const std::vector<std::string>& texts) {
  WordInSentences result;
  const auto skip = [&](std::string reason) {
    result.skipped = std::move(reason);
    return result;
  };
  if (!context.ids) return skip("the spec has no tokenizer to cut sentences with");
  const auto* model = dynamic_cast<const SequenceModel*>(context.model);
  if (model == nullptr) return skip("the spec has no model of sequences");
  for (const std::string& text : texts) {
    const std::size_t index = result.sentences.size();
    result.sentences.push_back(tokens_of(context, text));
    const std::string refusal = refuse_length(index, result.sentences.back().ids.size(), context.trained_length);
    if (!refusal.empty()) return skip(refusal);
  }
  result.occurrences = occurrences_of(word, result.sentences);
  if (result.occurrences.empty())
    return skip(fmt::format("'{}' is one piece or several in a row in none of the sentences", word));
  for (const SentenceTokens& sentence : result.sentences) {
    std::optional<HiddenRows> rows = hidden_rows(context, *model, sentence);
    if (!rows) return skip("the model does not show the rows of its tokens: it has no hidden states");
    result.hidden.push_back(std::move(*rows));
  }
  return result;
}

PairMeans pair_means(const std::vector<double>& cosines, std::size_t count,
                     const std::function<bool(std::size_t, std::size_t)>& are_alike) {
  double sums[2] = {0, 0}, pairs[2] = {0, 0};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = i + 1; k < count; ++k) {
      const int kind = are_alike(i, k) ? 0 : 1;
      sums[kind] += cosines[i * count + k];
      pairs[kind] += 1;
    }
  }
  PairMeans means;
  if (pairs[0] > 0) means.alike = sums[0] / pairs[0];
  if (pairs[1] > 0) means.other = sums[1] / pairs[1];
  return means;
}

std::vector<AnalysisArray> occurrence_arrays(const WordInSentences& found) {
  std::vector<double> sentences, positions;
  std::vector<std::string> pieces;
  for (const Occurrence& at : found.occurrences) {
    sentences.push_back(static_cast<double>(at.sentence));
    positions.push_back(static_cast<double>(at.position));
    pieces.push_back(found.sentences[at.sentence].pieces[at.position]);
  }
  const auto count = static_cast<std::int64_t>(pieces.size());
  return {{"sentence", {count}, std::move(sentences), {"occurrence"}},
          {"position", {count}, std::move(positions), {"occurrence"}},
          text_array("piece", {count}, std::move(pieces), {"occurrence"})};
}

}  // namespace jari
