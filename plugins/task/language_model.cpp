// Each token of a text from those before it. The last part of the corpus is held out: training never sees it, and
// evaluations go over it window by window, from its first token on.
//
// An evaluation's windows follow one another (packed), or begin `stride` tokens after one another and count only their
// last `stride` tokens, which then all have at least length - stride tokens before them (Press et al. 2021,
// "Shortformer", on why the two differ).

#include <fmt/format.h>

#include <algorithm>

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

class LanguageModel final : public SequenceTask {
 public:
  explicit LanguageModel(const LanguageModelParameters& parameters) : parameters_(parameters) {}

  std::int64_t vocabulary(const TokenizedCorpus* corpus) const override { return corpus->vocabulary.size(); }
  bool reads_data() const override { return true; }
  bool predicts_text() const override { return true; }
  bool has_target(std::int64_t, std::int64_t) const override { return true; }
  bool has_epochs() const override { return parameters_.windows == Windows::pass; }

  std::int64_t steps_of_epoch(const TokenizedCorpus& corpus, std::int64_t batch, std::int64_t length) const override {
    return (windows_of_pass(trained(corpus).size(), length) + batch - 1) / batch;
  }

  std::string refuse_model(const Model& model) const override {
    if (const std::string refusal = SequenceTask::refuse_model(model); !refusal.empty()) return refusal;
    return dynamic_cast<const SequenceModel&>(model).is_causal()
               ? ""
               : "its tokens see what comes after them, which is what they should predict";
  }

  std::int64_t sequences(const SequenceWindows& windows) const override {
    const Stretch part = windows.training ? trained(*windows.corpus) : tested(*windows.corpus);
    if (part.size() <= windows.length)
      throw StoreError(
          fmt::format("the {} part of the corpus has {} tokens: sequences of {} need more; take a longer "
                      "corpus, a shorter length, or another task.held_out",
                      windows.training ? "trained" : "held-out", part.size(), windows.length));
    if (windows.training) return kEndless;
    const std::int64_t targets = part.size() - 1;
    return 1 + std::max<std::int64_t>(0, targets - windows.length + windows.stride - 1) / windows.stride;
  }

  void batch(const BatchContext& context, std::span<std::int32_t> tokens,
             std::span<std::int32_t> targets) const override {
    const auto length = static_cast<std::size_t>(context.length);
    for (std::int64_t i = 0; i < context.batch; ++i) {
      const auto at = static_cast<std::size_t>(i) * length;
      const auto row = tokens.subspan(at, length), wanted = targets.subspan(at, length);
      if (context.training) {
        copy_window(*context.corpus, trained(*context.corpus), begin_of(context, i), row, wanted);
      } else {
        test_window(context, context.random.step * context.batch + i, row, wanted);
      }
    }
  }

 private:
  Stretch trained(const TokenizedCorpus& corpus) const {
    const auto size = static_cast<std::int64_t>(corpus.ids.size());
    return {0, size - static_cast<std::int64_t>(parameters_.held_out * static_cast<double>(size))};
  }
  Stretch tested(const TokenizedCorpus& corpus) const {
    const auto size = static_cast<std::int64_t>(corpus.ids.size());
    return {parameters_.held_out > 0 ? trained(corpus).end : 0, size};
  }

  // Room is left to cut each pass at another place.
  static std::int64_t windows_of_pass(std::int64_t size, std::int64_t length) {
    return std::max<std::int64_t>(1, (size - 1) / length - 1);
  }

  // Where the i-th sequence of a batch begins in the trained part.
  std::int64_t begin_of(const BatchContext& context, std::int64_t i) const {
    const std::int64_t size = trained(*context.corpus).size(), length = context.length;
    if (parameters_.windows == Windows::random)
      return uniform_below(context.random.bits(static_cast<std::uint64_t>(i)),
                           static_cast<std::uint32_t>(size - length));
    const auto count = static_cast<std::uint64_t>(windows_of_pass(size, length));
    const std::uint64_t place =
        std::uint64_t{context.random.step} * static_cast<std::uint64_t>(context.batch) + static_cast<std::uint64_t>(i);
    const RandomStream pass{context.random.seed, context.random.stream + 1, static_cast<std::uint32_t>(place / count)};
    const std::int64_t room = std::min(length, size - static_cast<std::int64_t>(count) * length);
    const std::int64_t shift = uniform_below(pass.bits(0), static_cast<std::uint32_t>(room));
    return shift + static_cast<std::int64_t>(permuted(place % count, count, pass)) * length;
  }

  static void copy_window(const TokenizedCorpus& corpus, Stretch part, std::int64_t begin,
                          std::span<std::int32_t> tokens, std::span<std::int32_t> targets) {
    const std::span<const std::int32_t> text = corpus.ids.subspan(static_cast<std::size_t>(part.begin + begin));
    const auto left = static_cast<std::size_t>(part.size() - begin);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = i < left ? text[i] : 0;
      targets[i] = i + 1 < left ? text[i + 1] : -1;
    }
  }

  // A window behind the last is empty.
  void test_window(const BatchContext& context, std::int64_t index, std::span<std::int32_t> tokens,
                   std::span<std::int32_t> targets) const {
    const Stretch part = tested(*context.corpus);
    copy_window(*context.corpus, part, std::min(index * context.stride, part.size()), tokens, targets);
    const bool is_first = index == 0;
    if (is_first) return;
    std::fill_n(targets.begin(), context.length - context.stride, -1);
  }

  LanguageModelParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Task, jari::LanguageModel, jari::LanguageModelParameters>(
      "language_model", "each token of a corpus from those before it");
}
