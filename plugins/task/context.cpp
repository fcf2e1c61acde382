// Words and their neighbors in a corpus, with negative sampling: what word2vec learns (Mikolov and others 2013).
//
// With `centers: random` each center is drawn anew, with one neighbor (or, for a model that predicts the center, all
// of them). With `centers: pass` step s takes the words [s batch, (s + 1) batch) of the corpus, over and over, with all
// neighbors in the window (framework/ops/word_windows.hpp).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

enum class Centers { random, pass };
inline const EnumNames<Centers>& enum_names(Centers) {
  static const EnumNames<Centers> names{{Centers::random, "random"}, {Centers::pass, "pass"}};
  return names;
}

enum class Reduction { mean, sum };
inline const EnumNames<Reduction>& enum_names(Reduction) {
  static const EnumNames<Reduction> names{{Reduction::mean, "mean"}, {Reduction::sum, "sum"}};
  return names;
}

struct ContextParameters {
  std::int64_t window = 5;
  bool dynamic_window = false;
  Centers centers = Centers::random;
  bool across_lines = false;
  std::optional<double> subsample;
  Slot<Sampler> negatives;
  Reduction reduction = Reduction::mean;

  template <class F>
  void fields(F& f) {
    f("window", window, "words to each side that are neighbors", between(1, 1000), unit("words"));
    f("dynamic_window", dynamic_window, "draw each window's reach from 1 to `window`, as word2vec does");
    f("centers", centers, "draw them at random, or pass over the corpus word by word");
    f("across_lines", across_lines, "windows go on over the ends of lines");
    f("subsample", subsample, "share of the corpus above which a word is dropped more often than not, e.g. 1e-3",
      more_than(0));
    f("negatives", negatives, "the wrong answers", required);
    f("reduction", reduction, "the gradient's: mean over the pairs of a batch, or their sum, as in word2vec");
  }
};

// Chance of each id to stay, as in word2vec.c: sqrt(t / f) + t / f, f its share of the corpus.
std::vector<float> keep_chances(const TokenizedCorpus& corpus, double threshold) {
  const auto total = static_cast<double>(corpus.ids.size());
  std::vector<float> chances;
  for (const std::int64_t count : corpus.vocabulary.counts()) {
    const double ratio = count > 0 ? threshold * total / static_cast<double>(count) : 1;
    chances.push_back(static_cast<float>(std::min(1.0, std::sqrt(ratio) + ratio)));
  }
  return chances;
}

// A corpus with what is drawn by: the graphs read it in place.
class ContextBatches final : public Batches {
 public:
  ContextBatches(const ContextParameters& parameters, std::shared_ptr<const TokenizedCorpus> corpus)
      : corpus_(std::move(corpus)) {
    const auto words = static_cast<std::int64_t>(corpus_->ids.size());
    if (words <= 2 * parameters.window)
      throw StoreError(
          fmt::format("the corpus has {} words: a window of {} to each side needs more", words, parameters.window));
    if (words > std::numeric_limits<std::int32_t>::max())
      throw StoreError(fmt::format("the corpus has {} words: task/context reads up to {}; take a part of it", words,
                                   std::numeric_limits<std::int32_t>::max()));
    line_starts_.assign(corpus_->line_starts.begin(), corpus_->line_starts.end());
    if (parameters.subsample) chances_ = keep_chances(*corpus_, *parameters.subsample);
    const std::vector<double> weights = parameters.negatives->weights(corpus_->vocabulary.counts());
    if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) != weights.end())
      alias_.emplace(weights);
  }

  WordWindows windows(Graph& graph, const WordWindowsAttributes& options) const {
    const Value words = resident(graph, "corpus/words", corpus_->ids.data(), corpus_->ids.size());
    const Value starts = resident(graph, "corpus/line_starts", line_starts_.data(), line_starts_.size());
    const Value chances =
        chances_.empty() ? Value()
                         : graph.resident("corpus/chances", {DType::f32, {static_cast<std::int64_t>(chances_.size())}},
                                          chances_.data());
    return word_windows(words, starts, chances, options);
  }

  Value negatives(Graph& graph, IdDraws draws) const {
    draws.count = corpus_->vocabulary.size();
    if (alias_) {
      draws.limits = resident(graph, "negatives/limits", alias_->limits().data(), alias_->limits().size());
      draws.others = resident(graph, "negatives/others", alias_->others().data(), alias_->others().size());
    }
    return random_ids(graph, draws);
  }

 private:
  static Value resident(Graph& graph, const char* name, const std::int32_t* elements, std::size_t count) {
    return graph.resident(name, {DType::i32, {static_cast<std::int64_t>(count)}}, elements);
  }

  std::shared_ptr<const TokenizedCorpus> corpus_;
  std::vector<std::int32_t> line_starts_;
  std::vector<float> chances_;       // of each id to stay; empty: all stay
  std::optional<AliasTable> alias_;  // none: all ids alike
};

class ContextTask final : public Task {
 public:
  explicit ContextTask(const ContextParameters& parameters) : parameters_(parameters) {}

  std::int64_t vocabulary(const TokenizedCorpus* corpus) const override { return corpus->vocabulary.size(); }
  bool reads_data() const override { return true; }
  bool has_epochs() const override { return parameters_.centers == Centers::pass; }
  std::int64_t steps_of_epoch(const TokenizedCorpus& corpus, std::int64_t batch, std::int64_t) const override {
    return (static_cast<std::int64_t>(corpus.ids.size()) + batch - 1) / batch;
  }
  std::string refuse_model(const Model& model) const override {
    return dynamic_cast<const WordModel*>(&model) != nullptr ? "" : "it asks for words and their neighbors";
  }
  std::unique_ptr<const Batches> batches(std::shared_ptr<const TokenizedCorpus> corpus) const override {
    return std::make_unique<ContextBatches>(parameters_, std::move(corpus));
  }

  TaskLoss loss(const LossContext& context) const override {
    const auto& model = dynamic_cast<const WordModel&>(*context.model);
    Graph& graph = context.build.graph;
    const bool passes = context.build.training && parameters_.centers == Centers::pass;
    const auto [asked, given, negatives] = rows(context, passes, model.predicts_center());
    Value hidden, table;
    {
      const Graph::Scope scope(graph, "model", context.model.span());
      hidden = model.hidden(context.build, given);
      table = model.output_table(context.build);
    }
    const Graph::Scope scope(graph, "loss", context.span);
    const double weight = parameters_.negatives->settings().weight;
    const std::int64_t most_rows =
        passes && !model.predicts_center() ? most_neighbors(context) + negatives.shape().size() : 0;
    const NegativeSamplingResult result = negative_sampling(hidden, table, asked, negatives, weight, most_rows);
    return {result.loss, parameters_.reduction == Reduction::sum ? result.loss * result.pairs : result.loss};
  }

 private:
  struct Rows {
    Value asked, given, negatives;
  };

  Rows rows(const LossContext& context, bool passes, bool predicts_center) const {
    Graph& graph = context.build.graph;
    const Graph::Scope scope(graph, "batch");
    const auto& data = dynamic_cast<const ContextBatches&>(*context.batches);
    const WordWindows windows = data.windows(graph, {.stream = context.stream.draws,
                                                     .batch = context.batch,
                                                     .window = parameters_.window,
                                                     .width = passes || predicts_center ? 2 * parameters_.window : 1,
                                                     .passes = passes,
                                                     .dynamic = parameters_.dynamic_window,
                                                     .across_lines = parameters_.across_lines});
    const Value centers = reshape(windows.centers, {context.batch, 1});
    Rows result{predicts_center ? centers : windows.contexts, predicts_center ? windows.contexts : centers, {}};
    result.negatives = data.negatives(graph, negative_draws(context.stream, result.asked, windows.centers));
    return result;
  }

  // Distinct neighbors of a batch of a pass: its words, and a window's on both sides of each stretch of the corpus that
  // it takes.
  std::int64_t most_neighbors(const LossContext& context) const {
    const auto words = static_cast<std::int64_t>(context.build.corpus->ids.size());
    return context.batch + 2 * parameters_.window * (context.batch / words + 2);
  }

  IdDraws negative_draws(const BatchStream& stream, Value asked, Value centers) const {
    const NegativeSettings settings = parameters_.negatives->settings();
    IdDraws draws{.stream = stream.draws + 2, .shape = {}};
    if (settings.share == Share::pair) draws.asked = asked;
    if (settings.share == Share::center) draws.asked = centers;
    if (draws.asked) draws.shape = draws.asked.shape();
    draws.shape.push_back(settings.count);
    return draws;
  }

  ContextParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Task, jari::ContextTask, jari::ContextParameters>(
      "context", "words and their neighbors in a corpus, with negative sampling");
}
