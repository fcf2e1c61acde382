#include "tools/self_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/error.hpp"
#include "framework/spec/compose.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/run_file.hpp"
#include "framework/sweep/launcher.hpp"
#include "framework/train/trial_inputs.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

constexpr const char* kSpec = R"(experiment: self_test
seeds: 3
task: {type: neighbor, vocabulary: 7, offset: 1}
model: {type: probe, width: 8, position: {type: rel, max_length: 12}}
train: {steps: 20, batch: 4, length: 6}
evaluate: {longer: {length: 12, sequences: 8}}
)";

struct SmallSweep {
  SpecNode spec;
  Sweep sweep;
};

SmallSweep small_sweep(const std::string& optimizer, const std::string& precision) {
  Diagnostics diagnostics;
  SmallSweep result;
  result.spec = read_yaml_text(kSpec, "self_test.yaml", diagnostics);
  set_overrides(result.spec, {"train.optimizer=" + optimizer, "precision=" + precision}, diagnostics);
  diagnostics.throw_if_any();
  result.sweep = make_sweep(result.spec, builtin_registry(), diagnostics);
  diagnostics.throw_if_any();
  return result;
}

std::vector<RunRecord> train(const std::filesystem::path& runs, int threads) {
  SmallSweep small = small_sweep("{type: adam, lr: 1e-2}", "f32");
  LaunchOptions options;
  options.runs = runs;
  options.threads = threads;
  Progress silent;
  const LaunchResult result = launch(small.sweep, small.spec, Provenance{}, options, silent);
  std::vector<RunRecord> records;
  for (const TrialOutcome& outcome : result.outcomes) {
    if (outcome.status != "finished") throw StoreError(fmt::format("a trial {}: {}", outcome.status, outcome.message));
    records.push_back(read_run_file(result.folder / outcome.trial->folder / "run.h5"));
  }
  return records;
}

// One step of the first trial: `state` becomes what it leaves, the loss is that before it.
double step(const TrialPrograms& programs, const TrialInputs& inputs, State& state) {
  double loss = 0;
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t at, const Tensors& tensors) { inputs.fill_step(tensors, at); };
  hooks.fetch = [&](int, std::int64_t, const Tensors& tensors) {
    loss = tensors.scalar(kLoss);
    return true;
  };
  const int trials[] = {0};
  ThreadPool pool(1);
  programs.train()->run(state, trials, 0, 1, hooks, pool);
  return loss;
}

template <class Test>
SelfTest guarded(const Test& test) {
  try {
    return test();
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

}  // namespace

SelfTest test_training(const std::filesystem::path& scratch) {
  return guarded([&]() -> SelfTest {
    const int cores = std::max(2, usable_cores());
    const std::vector<RunRecord> alone = train(scratch / "one_thread", 1), side_by_side = train(scratch / "all", cores);
    if (alone.size() != side_by_side.size()) return {false, "a trial is missing"};
    for (std::size_t i = 0; i < alone.size(); ++i) {
      if (alone[i].weights == side_by_side[i].weights && alone[i].metrics == side_by_side[i].metrics) continue;
      return {false,
              fmt::format("{}: one thread and {} threads give different results", alone[i].attributes.label, cores)};
    }
    return {true, fmt::format("{} trials of 20 steps, equal bits on 1 and {} threads", alone.size(), cores)};
  });
}

SelfTest test_gradient() {
  return guarded([]() -> SelfTest {
    // With this optimizer a step takes away just the gradient.
    SmallSweep small = small_sweep("{type: sgd, lr: 1}", "f64");
    const Trial& trial = small.sweep.trials.front();
    TrialPrograms& programs = *small.sweep.groups.front().programs;
    programs.plan();
    const TrialInputs inputs(trial, programs);
    State state = programs.make_state(1);
    initialize(state, 0, programs.declarations(), trial);
    const std::vector<std::byte> first(state.data(0), state.data(0) + state.bytes_per_trial());
    const auto restore = [&] { std::ranges::copy(first, state.data(0)); };

    constexpr double kStep = 1e-5, kTolerance = 1e-7;
    double worst = 0;
    std::size_t count = 0;
    for (const State::Entry& entry : state.entries()) {
      restore();
      const std::vector<double> before = state.read(0, entry);
      step(programs, inputs, state);
      const std::vector<double> after = state.read(0, entry);
      for (std::size_t i = 0; i < before.size(); ++i, ++count) {
        const auto loss_at = [&](double shift) {
          restore();
          state.tensor<double>(0, entry)[i] += shift;
          return step(programs, inputs, state);
        };
        const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
        worst = std::max(worst, std::abs(slope - (before[i] - after[i])));
      }
    }
    const std::string text = fmt::format("{} derivatives, at most {:.1g} from finite differences", count, worst);
    return {worst < kTolerance, text};
  });
}

}  // namespace jari
