// Steps per second and peak memory of training a spec's first trial; options and output as those of step_torch.py.
// bench/step.py runs both.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/thread_pool.hpp"
#include "framework/base/version.hpp"
#include "framework/train/record.hpp"
#include "framework/train/trainer.hpp"
#include "framework/train/trial_inputs.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

struct Options {
  SpecArguments spec{JARI_SOURCE_DIR "/configs/base/probe.yaml", {}};
  std::string position;  // "": the spec's own
  int threads = 1;
  std::int64_t steps = 200;
  std::int64_t warmup = 20;
  bool no_rewrite = false;
};

int measure(Options options) {
  const std::string length = options.position == "sin" ? "" : ", max_length: 40";
  if (!options.position.empty()) {
    options.spec.overrides.insert(options.spec.overrides.begin(),
                                  "model.position={type: " + options.position + length + "}");
  }
  Session session = open_spec(options.spec);
  const Sweep sweep = checked_sweep(session, {.rewrites = !options.no_rewrite});
  const Trial& trial = sweep.trials.front();
  TrialPrograms& programs = *sweep.groups.front().programs;
  programs.plan();

  State state = programs.make_state(1);
  initialize(state, 0, programs.declarations(), trial);
  const TrialInputs inputs(trial, programs);
  const std::int64_t total = options.warmup + options.steps;
  double loss = 0;
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t step, const Tensors& tensors) { inputs.fill(tensors, kTrainStream, step); };
  hooks.feeds_ahead = true;
  hooks.fetch = [&](int, std::int64_t, const Tensors& tensors) {
    loss = tensors.scalar(kLoss);
    return std::isfinite(loss);
  };

  ThreadPool pool(options.threads);
  const int rows[] = {0};
  programs.train()->run(state, rows, 0, options.warmup, hooks, pool);
  const auto begin = std::chrono::steady_clock::now();
  programs.train()->run(state, rows, options.warmup, total, hooks, pool);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const nlohmann::ordered_json result{{"program", std::string("jari ") + version()},
                                      {"position", options.position},
                                      {"threads", options.threads},
                                      {"steps", options.steps},
                                      {"steps_per_second", static_cast<double>(options.steps) / seconds},
                                      {"peak_rss_mib", peak_memory_bytes() / (1024 * 1024)},
                                      {"loss", loss}};
  std::puts(result.dump().c_str());
  return std::isfinite(loss) ? 0 : 1;
}

}  // namespace
}  // namespace jari

int main(int count, char** arguments) {
  jari::Options options;
  CLI::App app("Measures training steps of one trial.");
  app.add_option("--spec", options.spec.path, "a spec with `model.position`")->capture_default_str();
  app.add_option("--position", options.position, "learned, sin, rel ...")->capture_default_str();
  app.add_option("--threads", options.threads)->capture_default_str();
  app.add_option("--steps", options.steps, "that are timed")->capture_default_str();
  app.add_option("--warmup", options.warmup, "steps before them")->capture_default_str();
  app.add_flag("--no-rewrite", options.no_rewrite, "compute the graph as it was written");
  app.add_option("overrides", options.spec.overrides, "KEY=VALUE");
  CLI11_PARSE(app, count, arguments);
  try {
    return jari::measure(options);
  } catch (const jari::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
