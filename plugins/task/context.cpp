// Words and their neighbors in a corpus, with negative sampling: what word2vec learns (Mikolov and others 2013).
//
// With `centers: random` each center is drawn anew, with one neighbor (or, for a model that predicts the center, all
// of them). With `centers: pass` step s takes the words [s batch, (s + 1) batch) of the corpus, over and over, with all
// neighbors in the window. Which word is dropped and how far a window reaches depends on pass and place alone, so a
// batch needs nothing that came before it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

constexpr const char* kCenters = "centers";      // i32 [batch], -1: none
constexpr const char* kContexts = "contexts";    // i32 [batch, count], -1: none
constexpr const char* kNegatives = "negatives";  // i32 [K], [batch, K] or [batch, count, K]

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

// Where a batch's rows are written.
struct Rows {
  std::span<std::int32_t> centers, contexts;
  std::size_t width;  // contexts a row
  std::size_t used = 0;

  bool full() const { return used == centers.size(); }
  std::int32_t* row() { return contexts.data() + used * width; }
  void finish(std::int32_t center, std::size_t neighbors) {
    std::fill(row() + neighbors, row() + width, -1);
    centers[used++] = center;
  }
};

class ContextBatches final : public Batches {
 public:
  ContextBatches(const ContextParameters& parameters, std::shared_ptr<const TokenizedCorpus> corpus)
      : parameters_(parameters),
        corpus_(std::move(corpus)),
        ids_(corpus_->ids),
        settings_(parameters.negatives->settings()) {
    if (size() <= 2 * parameters_.window)
      throw StoreError(
          fmt::format("the corpus has {} words: a window of {} to each side needs more", size(), parameters_.window));
    if (parameters_.subsample) chances_ = keep_chances(*corpus_, *parameters_.subsample);
    const std::vector<double> weights = parameters_.negatives->weights(corpus_->vocabulary.counts());
    if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) != weights.end())
      alias_.emplace(weights);
  }

  void fill(const BatchContext& context, const Tensors& inputs) const override {
    const TensorType& type = inputs.type(kContexts);
    Rows rows{inputs.get<std::int32_t>(kCenters), inputs.get<std::int32_t>(kContexts),
              static_cast<std::size_t>(type.shape[1])};
    if (context.training && parameters_.centers == Centers::pass) {
      pass_over(context.random, rows);
    } else {
      draw(context.random, rows);
    }
    while (!rows.full()) rows.finish(-1, 0);
    draw_negatives(context.random, rows, inputs);
  }

 private:
  using Stretch = std::pair<std::int64_t, std::int64_t>;

  std::int64_t size() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int32_t id(std::int64_t place) const { return ids_[static_cast<std::size_t>(place)]; }
  bool keeps(std::int32_t word, std::uint32_t bits) const {
    return chances_.empty() || uniform_f32(bits) < chances_[static_cast<std::size_t>(word)];
  }
  std::int64_t reach(std::uint32_t bits) const {
    return parameters_.dynamic_window ? 1 + uniform_below(bits, static_cast<std::uint32_t>(parameters_.window))
                                      : parameters_.window;
  }

  // The line that a place is in.
  Stretch line_of(std::int64_t place) const {
    if (parameters_.across_lines) return {0, size()};
    const auto& starts = corpus_->line_starts;
    const auto next = std::upper_bound(starts.begin(), starts.end(), place);
    return {*(next - 1), *next};
  }

  // -- centers at random

  void draw(const RandomStream& random, Rows& rows) const {
    constexpr std::uint32_t kAttempts = 16;  // at a center whose neighbor is in its line and not dropped
    for (std::uint32_t i = 0; i < rows.centers.size(); ++i) {
      for (std::uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
        const std::uint32_t at = 2 * (i * kAttempts + attempt);
        if (rows.width == 1 ? draw_pair(random, at, rows) : draw_window(random, at, rows)) break;
      }
    }
  }

  // As the source does it, a center stands a window away from both ends of the corpus where windows cross lines.
  std::int64_t draw_place(std::uint32_t bits) const {
    const std::int64_t margin = parameters_.across_lines ? parameters_.window : 0;
    return margin + uniform_below(bits, static_cast<std::uint32_t>(size() - 2 * margin));
  }

  bool draw_pair(const RandomStream& random, std::uint32_t at, Rows& rows) const {
    const PhiloxBlock block = random.block(at);
    const std::int64_t place = draw_place(block.word[0]), most = reach(block.word[1]);
    const auto side = static_cast<std::int64_t>(uniform_below(block.word[2], static_cast<std::uint32_t>(2 * most)));
    const std::int64_t other = place + (side < most ? -1 - side : side - most + 1);
    if (!parameters_.across_lines) {
      const Stretch line = line_of(place);
      if (other < line.first || other >= line.second) return false;
    }
    if (!chances_.empty()) {
      const PhiloxBlock drops = random.block(at + 1);
      if (!keeps(id(place), drops.word[0]) || !keeps(id(other), drops.word[1])) return false;
    }
    *rows.row() = id(other);
    rows.finish(id(place), 1);
    return true;
  }

  bool draw_window(const RandomStream& random, std::uint32_t at, Rows& rows) const {
    const PhiloxBlock block = random.block(at);
    const std::int64_t place = draw_place(block.word[0]), most = reach(block.word[1]);
    if (!keeps(id(place), block.word[2])) return false;
    const Stretch line = line_of(place);
    std::size_t neighbors = 0;
    for (std::int64_t other = std::max(line.first, place - most); other < std::min(line.second, place + most + 1);
         ++other)
      if (other != place) rows.row()[neighbors++] = id(other);
    if (neighbors == 0) return false;
    rows.finish(id(place), neighbors);
    return true;
  }

  // -- passes over the corpus

  void pass_over(const RandomStream& random, Rows& rows) const {
    const auto batch = static_cast<std::int64_t>(rows.centers.size());
    std::int64_t at = static_cast<std::int64_t>(random.step) * batch;
    for (std::int64_t left = batch; left > 0;) {
      const std::int64_t begin = at % size(), end = std::min(size(), begin + left);
      // Draws belong to a word in a pass, not to a step.
      pass_over_stretch({random.seed, random.stream + 1, static_cast<std::uint32_t>(at / size())}, begin, end, rows);
      at += end - begin;
      left -= end - begin;
    }
  }

  void pass_over_stretch(const RandomStream& random, std::int64_t begin, std::int64_t end, Rows& rows) const {
    for (std::int64_t place = begin; place < end;) {
      const Stretch line = line_of(place);
      const std::int64_t until = std::min(end, line.second);
      add_windows(random, line, place, until, rows);
      place = until;
    }
  }

  struct Kept {
    std::int32_t word;
    std::uint32_t bits;  // for the reach of its window
  };

  // Centers [begin, end) of a line, among the words of the line that are not dropped.
  void add_windows(const RandomStream& random, const Stretch& line, std::int64_t begin, std::int64_t end,
                   Rows& rows) const {
    thread_local std::vector<Kept> kept;
    kept.clear();
    const auto look = [&](std::int64_t place) {
      const PhiloxBlock block = random.block(static_cast<std::uint32_t>(place));
      if (keeps(id(place), block.word[0])) kept.push_back({id(place), block.word[1]});
    };
    const auto window = static_cast<std::size_t>(parameters_.window);
    for (std::int64_t place = begin - 1; place >= line.first && kept.size() < window; --place) look(place);
    std::reverse(kept.begin(), kept.end());
    const std::size_t first = kept.size();
    for (std::int64_t place = begin; place < end; ++place) look(place);
    const std::size_t last = kept.size();
    for (std::int64_t place = end; place < line.second && kept.size() < last + window; ++place) look(place);
    for (std::size_t i = first; i < last; ++i) add_window(kept, i, rows);
  }

  void add_window(const std::vector<Kept>& kept, std::size_t i, Rows& rows) const {
    const auto most = static_cast<std::size_t>(reach(kept[i].bits));
    std::size_t neighbors = 0;
    for (std::size_t j = i - std::min(i, most); j < std::min(kept.size(), i + most + 1); ++j)
      if (j != i) rows.row()[neighbors++] = kept[j].word;
    if (neighbors > 0) rows.finish(kept[i].word, neighbors);
  }

  // -- negatives

  void draw_negatives(const RandomStream& random, const Rows& rows, const Tensors& inputs) const {
    const RandomStream own{random.seed, random.stream + 2, random.step};
    const std::span<std::int32_t> negatives = inputs.get<std::int32_t>(kNegatives);
    const std::size_t count = static_cast<std::size_t>(settings_.count), draws = negatives.size() / count;
    const bool by_context = draws == rows.contexts.size() && draws != rows.centers.size();
    for (std::size_t i = 0; i < draws; ++i) {
      const bool none = draws > 1 && (by_context ? rows.contexts[i] : rows.centers[i]) < 0;
      draw_ids(own, i * count, negatives.subspan(i * count, count), none);
    }
  }

  void draw_ids(const RandomStream& random, std::size_t first, std::span<std::int32_t> ids, bool none) const {
    if (none) {
      std::fill(ids.begin(), ids.end(), -1);
    } else if (alias_) {
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const PhiloxBlock block = random.block(static_cast<std::uint32_t>((first + i) / 2));
        const std::size_t word = (first + i) % 2 * 2;
        ids[i] = alias_->draw(block.word[word], block.word[word + 1]);
      }
    } else {
      const auto words = static_cast<std::uint32_t>(corpus_->vocabulary.size());
      for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = static_cast<std::int32_t>(uniform_below(random.bits(first + i), words));
    }
  }

  const ContextParameters& parameters_;
  std::shared_ptr<const TokenizedCorpus> corpus_;
  std::span<const std::int32_t> ids_;
  NegativeSettings settings_;
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
    const std::int64_t batch = context.batch;
    const std::int64_t count = passes || model.predicts_center() ? 2 * parameters_.window : 1;
    const Value centers = graph.input(kCenters, {DType::i32, {batch}}, /*per_trial=*/true);
    const Value contexts = graph.input(kContexts, {DType::i32, {batch, count}}, /*per_trial=*/true);
    const Value asked = model.predicts_center() ? reshape(centers, {batch, 1}) : contexts;
    const Value given = model.predicts_center() ? contexts : reshape(centers, {batch, 1});
    const Value negatives =
        graph.input(kNegatives, {DType::i32, negatives_shape(batch, asked.shape()[1])}, /*per_trial=*/true);
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
  // Distinct neighbors of a batch of a pass: its words, and a window's on both sides of each stretch of the corpus that
  // it takes.
  std::int64_t most_neighbors(const LossContext& context) const {
    const auto words = static_cast<std::int64_t>(context.build.corpus->ids.size());
    return context.batch + 2 * parameters_.window * (context.batch / words + 2);
  }

  Shape negatives_shape(std::int64_t batch, std::int64_t count) const {
    const NegativeSettings settings = parameters_.negatives->settings();
    switch (settings.share) {
      case Share::pair:
        return {batch, count, settings.count};
      case Share::center:
        return {batch, settings.count};
      case Share::batch:
        return {settings.count};
    }
    return {};
  }

  ContextParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Task, jari::ContextTask, jari::ContextParameters>(
      "context", "words and their neighbors in a corpus, with negative sampling");
}
