// jari generate RUN --prompt TEXT: goes on with a text by a trained language model.

#include "framework/train/generate.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/sweep/launcher.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

class GenerateCommand final : public Command {
 public:
  const char* name() const override { return "generate"; }
  const char* summary() const override { return "go on with a text by a trained language model"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  std::string run_, prompt_;
  GenerateOptions options_;
  bool no_cache_ = false;
  std::vector<std::string> plugins_;
};

void GenerateCommand::options(CommandOptions& options) {
  options.argument("run", run_, "a finished trial's folder, or its run file");
  options.option("--prompt", prompt_, "the text to go on with; - reads it from stdin");
  options.option("--tokens", options_.tokens, "new tokens");
  options.flag("--greedy", options_.sampling.greedy, "always the likeliest token");
  options.option("--temperature", options_.sampling.temperature, "divides the logits; below 1 likely tokens gain (1)");
  options.option("--top-k", options_.sampling.top_k, "draw from the K likeliest tokens (all)");
  options.option("--top-p", options_.sampling.top_p, "draw from the fewest that have probability P together (1)");
  options.option("--seed", options_.seed, "of the draws: equal seeds give equal texts (0)");
  options.option("--samples", options_.samples, "texts, each with draws of its own (1)");
  options.option("--context", options_.context, "tokens of the longest sequence (train.length)");
  options.flag("--slide", options_.slide, "go on beyond the context: each token sees the last ones before it");
  options.flag("--no-cache", no_cache_, "compute the whole sequence anew for each token, for comparison");
  options.list("--plugin", plugins_, "a loadable module whose components count too");
}

int GenerateCommand::run() {
  options_.cached = !no_cache_;
  options_.check();
  const fs::path path = fs::is_directory(run_) ? fs::path(run_) / kRunFile : fs::path(run_);
  if (!fs::exists(path))
    throw StoreError(
        fmt::format("{}: there is no such run file; give a finished trial's folder or its run file", path.string()));
  const LanguageModelRun run(read_run_file(path), path.string(), registry_with(plugins_));
  if (prompt_ == "-") prompt_.assign(std::istreambuf_iterator<char>(std::cin), {});
  ThreadPool pool(usable_cores());
  std::int64_t tokens = 0;
  double seconds = 0;
  bool cached = false;
  generate(run, prompt_, options_, pool, [&](const GeneratedText& generated) {
    // A model may write any bytes: an escape sequence shall not reach a terminal.
    fmt::print("{}{}\n", tokens > 0 ? "---\n" : "", printable_lines(generated.text));
    std::fflush(stdout);
    tokens += generated.tokens;
    seconds += generated.seconds;
    cached = generated.cached;
  });
  fmt::print(stderr, "{} tokens in {:.3f} s: {:.1f} tokens/s, {}\n", tokens, seconds,
             static_cast<double>(tokens) / seconds, cached ? "with kept keys and values" : "each sequence anew");
  return 0;
}

}  // namespace

CommandPtr generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace jari
