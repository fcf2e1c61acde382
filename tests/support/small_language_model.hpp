#pragma once
// Language models that train in a moment, as finished runs.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "framework/store/run_file.hpp"
#include "framework/train/language_model_run.hpp"
#include "framework/train/trainer.hpp"
#include "tests/support/cache_home.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari::test {

inline constexpr const char* kRhyme = "the quick brown fox jumps over the lazy dog\n";

inline const Registry& builtin_plugins() {
  static const Registry registry = [] {
    Registry builtin;
    register_builtin_plugins(builtin);
    return builtin;
  }();
  return registry;
}

// A folder with a corpus, and the runs that are trained from it.
class LanguageModelFolder {
 public:
  explicit LanguageModelFolder(const std::string& text = kRhyme, int times = 12) {
    std::ofstream file(corpus(), std::ios::binary);
    for (int i = 0; i < times; ++i) file << text;
  }

  std::filesystem::path corpus() const { return folder_.path() / "text.txt"; }

  // Of characters, in f64, with weights that are large enough to make logits differ.
  std::string spec(const std::string& position, int steps = 2) const {
    return "experiment: lm\nprecision: f64\ndata: {corpus: " + corpus().string() +
           ", tokenizer: characters}\ntask: {type: language_model, held_out: 0}\n"
           "model: {type: gpt, blocks: 2, heads: 2, width: 16, init_deviation: 0.4, position: " +
           position + "}\ntrain: {steps: " + std::to_string(steps) +
           ", batch: 8, length: 16, optimizer: {type: adam, lr: 1e-2}}\n";
  }

  // A run that knows the rhyme by heart.
  std::filesystem::path train_by_heart(const std::string& position) const {
    return train(spec(position, 300), {"model.init_deviation=0.05", "train.length=44"});
  }

  // The trial's folder.
  std::filesystem::path train(const std::string& yaml, const std::vector<std::string>& overrides = {}) const {
    ParsedSweep parsed = sweep_of(yaml, overrides);
    parsed.sweep.groups[0].programs->plan();
    ThreadPool pool(1);
    Progress silent;
    const Trial& trial = parsed.sweep.trials[0];
    for (const TrialOutcome& outcome :
         train_group(*parsed.sweep.groups[0].programs, {&trial}, folder_.path() / "runs", {}, pool, silent, {}))
      EXPECT_EQ(outcome.status, "finished") << outcome.message;
    return folder_.path() / "runs" / trial.folder;
  }

  LanguageModelRun run(const std::string& yaml, const std::vector<std::string>& overrides = {}) const {
    return open(train(yaml, overrides));
  }
  static LanguageModelRun open(const std::filesystem::path& folder) {
    return {read_run_file(folder / "run.h5"), "run.h5", builtin_plugins()};
  }

 private:
  const TemporaryFolder folder_;
  const CacheHome cache_{folder_.path()};
};

}  // namespace jari::test
