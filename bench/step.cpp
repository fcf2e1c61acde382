// Steps per second and peak memory of training a spec's first trial, or several seeds of it side by side; options and
// output as those of step_torch.py. bench/step.py and bench/gpu.py run both.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "framework/backend/device_module.hpp"
#include "framework/base/error.hpp"
#include "framework/base/thread_pool.hpp"
#include "framework/base/version.hpp"
#include "framework/ops/cost.hpp"
#include "framework/train/record.hpp"
#include "framework/train/trainer.hpp"
#include "framework/train/trial_inputs.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

struct Options {
  SpecArguments spec{JARI_SOURCE_DIR "/configs/base/probe.yaml", {}};
  std::string position;  // "": the spec's own
  std::string device = "cpu";
  int trials = 1;
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
  if (options.trials > 1) options.spec.overrides.push_back("seeds=" + std::to_string(options.trials));
  Session session = open_spec(options.spec);
  const Sweep sweep = checked_sweep(session, {.rewrites = !options.no_rewrite});
  const TrialGroup& group = sweep.groups.front();
  TrialPrograms& programs = *group.programs;
  programs.plan(options.device == "cpu" ? nullptr : Cards::get().open(0));

  State state = programs.make_state(options.trials);
  std::vector<int> rows;
  std::vector<TrialInputs> inputs;
  for (int row = 0; row < options.trials; ++row) {
    const Trial& trial = sweep.trials[group.trials.at(static_cast<std::size_t>(row))];
    initialize(state, row, programs.declarations(), trial);
    inputs.emplace_back(trial, programs);
    rows.push_back(row);
  }
  const std::int64_t total = options.warmup + options.steps;
  std::vector<double> losses(rows.size());
  Program::Hooks hooks;
  hooks.feed = [&](int row, std::int64_t step, const Tensors& tensors) {
    inputs[static_cast<std::size_t>(row)].fill_step(tensors, step);
  };
  hooks.feeds_ahead = true;
  // As a training has it: what is not finite changes nothing.
  hooks.guard = [&](int, std::int64_t, const Tensors& tensors) {
    return std::isfinite(tensors.scalar(kLoss)) && std::isfinite(tensors.scalar(kGradientNorm));
  };
  hooks.finite = {kLoss, kGradientNorm};
  hooks.fetch = [&](int row, std::int64_t, const Tensors& tensors) {
    losses[static_cast<std::size_t>(row)] = tensors.scalar(kLoss);
    return true;
  };

  ThreadPool pool(options.threads);
  programs.train()->run(state, rows, 0, options.warmup, hooks, pool);
  const auto begin = std::chrono::steady_clock::now();
  programs.train()->run(state, rows, options.warmup, total, hooks, pool);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  std::vector<std::string> digests;
  for (const int row : rows) digests.push_back(state.digest(row));
  const GraphCost cost = cost_of(programs.train_graph());
  const Program::DeviceSteps device_steps = programs.train()->device_steps();
  const nlohmann::ordered_json result{
      {"program", std::string("jari ") + version()},
      {"position", options.position},
      {"device", options.device},
      {"trials", options.trials},
      {"threads", options.threads},
      {"steps", options.steps},
      {"steps_per_second", static_cast<double>(options.steps) / seconds},  // all trials do a step
      {"peak_rss_mib", peak_memory_bytes() / (1024 * 1024)},
      {"kernels", programs.train()->report().nodes},
      {"replayed_steps", device_steps.replayed},
      {"product_flops", cost.product_flops},  // of a step of one trial, as the two below
      {"value_bytes", cost.value_bytes},
      {"state_bytes", state.bytes_per_trial()},
      {"digests", digests},
      {"loss", losses.front()}};
  std::puts(result.dump().c_str());
  return std::isfinite(losses.front()) ? 0 : 1;
}

}  // namespace
}  // namespace jari

int main(int count, char** arguments) {
  jari::Options options;
  CLI::App app("Measures training steps of one trial, or of several side by side.");
  app.add_option("--spec", options.spec.path, "a spec with `model.position`")->capture_default_str();
  app.add_option("--position", options.position, "learned, sin, rel ...")->capture_default_str();
  app.add_option("--device", options.device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--trials", options.trials, "seeds that train side by side")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
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
