#pragma once
// Goes on with a text by a trained language model: what `jari generate` does.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "framework/base/thread_pool.hpp"
#include "framework/train/language_model_run.hpp"
#include "framework/train/next_token.hpp"

namespace jari {

struct GenerateOptions {
  std::int64_t tokens = 100;                 // new ones
  std::optional<std::int64_t> samples = {};  // 1 if not given; each with draws of its own
  Sampling sampling = {};
  std::optional<std::int64_t> seed = {};     // of the draws; 0 if not given
  std::optional<std::int64_t> context = {};  // tokens of the longest sequence; train.length if not given
  bool slide = false;                        // of longer sequences, see the last `context` tokens
  bool cached = true;                        // keep keys and values, where no sequence slides

  // SpecError, in the words of the command line, for numbers out of range and options that have no effect.
  void check() const;
};

struct GeneratedText {
  std::string text;         // the prompt and what follows it
  std::int64_t tokens = 0;  // new ones
  double seconds = 0;       // that they took; of the first text also those of the prompt
  bool cached = false;      // whether keys and values were kept
};

// Calls `visit` with one text after another. The same options give the same texts on any number of threads. Throws
// SpecError if the prompt is empty, can not be said in the run's vocabulary, or does not fit with the new tokens into
// the context; ShapeError if the model can not see so many tokens; Error if its logits are not finite.
void generate(const LanguageModelRun& run, const std::string& prompt, const GenerateOptions& options, ThreadPool& pool,
              const std::function<void(const GeneratedText&)>& visit);

}  // namespace jari
