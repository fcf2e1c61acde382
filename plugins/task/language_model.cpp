// Each token of a text from those before it. The last part of the corpus is held out: training never sees it, and
// evaluations go over it window by window, from its first token on.
//
// An evaluation's windows follow one another (packed), or begin `stride` tokens after one another and count only their
// last `stride` tokens, which then all have at least length - stride tokens before them (Press et al. 2021,
// "Shortformer", on why the two differ).

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

enum class Windows { random, pass };
inline const EnumNames<Windows>& enum_names(Windows) {
  static const EnumNames<Windows> names{{Windows::random, "random"}, {Windows::pass, "pass"}};
  return names;
}

struct LanguageModelParameters {
  double held_out = 0.1;
  Windows windows = Windows::random;
  template <class F>
  void fields(F& f) {
    f("held_out", held_out, "part of the corpus, at its end, that is for evaluation alone; 0 evaluates on all of it",
      from_below(0, 1));
    f("windows", windows,
      "where sequences begin: anywhere, or passes over the text that cut it anew each time, in random order");
  }
};

struct Stretch {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

// i32 [batch]: where in the corpus each sequence begins, and how many of its first targets are not asked for.
constexpr const char* kBegins = "windows/begins";
constexpr const char* kSkips = "windows/skips";

// The parts of a corpus.
class Parts {
 public:
  Parts(const TokenizedCorpus& corpus, double held_out) : size_(static_cast<std::int64_t>(corpus.ids.size())) {
    trained_ = size_ - static_cast<std::int64_t>(held_out * static_cast<double>(size_));
    tested_from_ = held_out > 0 ? trained_ : 0;
  }
  Stretch trained() const { return {0, trained_}; }
  Stretch tested() const { return {tested_from_, size_}; }
  Stretch of(bool training) const { return training ? trained() : tested(); }

 private:
  std::int64_t size_, trained_, tested_from_;
};

// Room is left to cut each pass at another place.
std::int64_t windows_of_pass(std::int64_t size, std::int64_t length) {
  return std::max<std::int64_t>(1, (size - 1) / length - 1);
}

// Where the windows of a batch are.
class WindowBatches final : public Batches {
 public:
  WindowBatches(const LanguageModelParameters& parameters, const TokenizedCorpus& corpus)
      : windows_(parameters.windows), parts_(corpus, parameters.held_out) {}

  void fill(const BatchContext& context, const Tensors& inputs) const override {
    const auto begins = inputs.get<std::int32_t>(kBegins), skips = inputs.get<std::int32_t>(kSkips);
    const auto batch = static_cast<std::int64_t>(begins.size());
    for (std::int64_t i = 0; i < batch; ++i) {
      const std::int64_t place = std::int64_t{context.random.step} * batch + i;
      const Window window = context.stream.training ? trained(context, i, place) : tested(context.stream, place);
      begins[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(window.begin);
      skips[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(window.skips);
    }
  }

 private:
  struct Window {
    std::int64_t begin, skips;
  };

  // `place`: of the sequence among all of the training.
  Window trained(const BatchContext& context, std::int64_t i, std::int64_t place) const {
    const std::int64_t size = parts_.trained().size(), length = context.stream.length;
    if (windows_ == Windows::random)
      return {
          uniform_below(context.random.bits(static_cast<std::uint64_t>(i)), static_cast<std::uint32_t>(size - length)),
          0};
    const auto count = static_cast<std::uint64_t>(windows_of_pass(size, length));
    const auto at = static_cast<std::uint64_t>(place);
    const RandomStream pass{context.random.seed, context.random.stream + 1, static_cast<std::uint32_t>(at / count)};
    const std::int64_t room = std::min(length, size - static_cast<std::int64_t>(count) * length);
    const std::int64_t shift = uniform_below(pass.bits(0), static_cast<std::uint32_t>(room));
    return {shift + static_cast<std::int64_t>(permuted(at % count, count, pass)) * length, 0};
  }

  // A window behind the last is empty.
  Window tested(const BatchStream& stream, std::int64_t place) const {
    const Stretch part = parts_.tested();
    return {part.begin + std::min(place * stream.stride, part.size()), place == 0 ? 0 : stream.length - stream.stride};
  }

  Windows windows_;
  Parts parts_;
};

class LanguageModel final : public SequenceTask {
 public:
  explicit LanguageModel(const LanguageModelParameters& parameters) : parameters_(parameters) {}

  std::int64_t vocabulary(const TokenizedCorpus* corpus) const override { return corpus->vocabulary.size(); }
  bool reads_data() const override { return true; }
  bool predicts_text() const override { return true; }
  bool has_target(std::int64_t, std::int64_t) const override { return true; }
  bool has_epochs() const override { return parameters_.windows == Windows::pass; }

  std::int64_t steps_of_epoch(const TokenizedCorpus& corpus, std::int64_t batch, std::int64_t length) const override {
    return (windows_of_pass(parts_of(corpus).trained().size(), length) + batch - 1) / batch;
  }

  std::string refuse_model(const Model& model) const override {
    if (const std::string refusal = SequenceTask::refuse_model(model); !refusal.empty()) return refusal;
    return dynamic_cast<const SequenceModel&>(model).is_causal()
               ? ""
               : "its tokens see what comes after them, which is what they should predict";
  }

  std::int64_t sequences(const SequenceWindows& windows) const override {
    const Stretch part = parts_of(*windows.corpus).of(windows.training);
    if (part.end > kMostTokens)
      throw StoreError(fmt::format("the corpus has {} tokens: a language model reads up to {}; take a part of it",
                                   windows.corpus->ids.size(), kMostTokens));
    if (part.size() <= windows.length)
      throw StoreError(
          fmt::format("the {} part of the corpus has {} tokens: sequences of {} need more; take a longer "
                      "corpus, a shorter length, or another task.held_out",
                      windows.training ? "trained" : "held-out", part.size(), windows.length));
    if (windows.training) return kEndless;
    const std::int64_t targets = part.size() - 1;
    return 1 + std::max<std::int64_t>(0, targets - windows.length + windows.stride - 1) / windows.stride;
  }

  Batch batch(const LossContext& context) const override {
    const TokenizedCorpus& corpus = *context.build.corpus;
    Graph& graph = context.build.graph;
    const TensorType whole{DType::i32, {context.batch}};
    const auto part_of = [&](const char* name) {
      const Value all = graph.input(name, whole, /*per_trial=*/true);
      return context.parts > 1
                 ? slice(all, 0, context.begin_of_part(), context.begin_of_part() + context.batch_of_part())
                 : all;
    };
    const Value text =
        graph.resident("corpus", {DType::i32, {static_cast<std::int64_t>(corpus.ids.size())}}, corpus.ids.data());
    const std::int64_t end = parts_of(corpus).of(context.stream.training).end;
    const TextWindows windows = text_windows(text, part_of(kBegins), part_of(kSkips), context.build.length, end);
    return {windows.tokens, windows.targets};
  }

  std::unique_ptr<const Batches> batches(std::shared_ptr<const TokenizedCorpus> corpus) const override {
    return std::make_unique<WindowBatches>(parameters_, *corpus);
  }

 private:
  static constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max();

  Parts parts_of(const TokenizedCorpus& corpus) const { return {corpus, parameters_.held_out}; }

  LanguageModelParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Task, jari::LanguageModel, jari::LanguageModelParameters>(
      "language_model", "each token of a corpus from those before it");
}
