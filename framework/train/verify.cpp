#include "framework/train/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "framework/base/error.hpp"
#include "framework/train/device_choice.hpp"
#include "framework/train/evaluator.hpp"
#include "framework/train/rank_steps.hpp"
#include "framework/train/trainer.hpp"
#include "framework/train/trial_inputs.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

std::string find(const Environment& environment, const std::string& name) {
  for (const auto& [key, text] : environment) {
    if (key == name) return text;
  }
  return "unknown";
}

bool is_same(double left, double right) { return left == right || (std::isnan(left) && std::isnan(right)); }

class Verifier {
 public:
  Verifier(const RunRecord& run, const Trial& trial, const std::vector<std::shared_ptr<Device>>& devices,
           ThreadPool& pool)
      : run_(run),
        trial_(trial),
        pool_(pool),
        programs_(trial.experiment, find(run.environment, "rewrites") != "off"),
        inputs_(trial, programs_) {
    programs_.plan(devices);
  }

  VerifyReport verify(std::int64_t steps, const std::string& device, const Environment& here) {
    compare_machines(device, here);
    if (programs_.train() != nullptr) {
      train_again(steps);
      evaluate_again();
    }
    if (report_.checks.empty()) {
      throw StoreError(fmt::format("run {}: holds neither digests, losses nor weights to compare with", trial_.label));
    }
    return std::move(report_);
  }

 private:
  void compare_machines(const std::string& device, const Environment& here) {
    if (run_.attributes.device != device) {
      report_.difference = fmt::format("device: {} then, {} now", run_.attributes.device, device);
    }
    for (const char* name : {"cpu", "build", "cpu_backend", "card", "card_libraries"}) {
      const std::string then = find(run_.environment, name), now = find(here, name);
      if (then == now) continue;
      report_.difference +=
          fmt::format("{}{}: {} then, {} now", report_.difference.empty() ? "" : "; ", name, then, now);
    }
    report_.same_machine = report_.difference.empty();
    report_.tolerance = report_.same_machine ? 0 : verify_tolerance(trial_);
  }

  void compare_numbers(const std::string& what, double recorded, double found) {
    Verification check{what, fmt::format("{}", recorded), fmt::format("{}", found), 0, is_same(recorded, found), false};
    check.difference = check.equal ? 0 : std::abs(recorded - found) / std::max(std::abs(recorded), 1e-12);
    check.passed = check.equal || check.difference <= report_.tolerance;
    report_.checks.push_back(std::move(check));
  }

  void compare_digests(std::int64_t step, const std::string& recorded, const std::string& found) {
    const bool equal = recorded == found;
    report_.checks.push_back({fmt::format("digest of the state at step {}", step), recorded, found, 0, equal,
                              equal || !report_.same_machine});
  }

  void train_again(std::int64_t steps) {
    const bool diverged = run_.attributes.status == "diverged";
    std::map<std::int64_t, double> losses;
    for (const MetricSeries& series : run_.metrics) {
      if (series.name != "train/loss") continue;
      for (std::size_t i = 0; i < series.steps.size(); ++i) losses[series.steps[i]] = series.values[i];
    }
    const std::map<std::int64_t, std::string> digests(run_.digests.begin(), run_.digests.end());
    std::int64_t last = 0;  // the run may have been stopped early
    for (const auto& [step, digest] : digests) last = std::max(last, step);
    for (const auto& [step, loss] : losses) last = std::max(last, step);
    report_.steps = std::min({steps, last, trial_.experiment.train->steps});

    State state = programs_.make_state(1);
    initialize(state, 0, programs_.declarations(), trial_);
    Program::Hooks hooks;
    hooks.feed = [&](int, std::int64_t step, const Tensors& inputs) { inputs_.fill_step(inputs, step); };
    bool goes_on = true;
    hooks.guard = [&](int, std::int64_t step, const Tensors& outputs) {
      const double loss = outputs.scalar(kLoss), norm = outputs.scalar(kGradientNorm);
      const auto recorded = losses.find(step + 1);
      if (recorded != losses.end()) {
        compare_numbers(fmt::format("train/loss at step {}", step + 1), recorded->second, loss);
      }
      goes_on = (std::isfinite(loss) && std::isfinite(norm)) || !diverged;
      return goes_on;
    };
    RankSteps rank_steps(programs_);
    const int rows[] = {0};
    for (std::int64_t step = 0; step < report_.steps && goes_on; ++step) {
      rank_steps.run(state, rows, step, step + 1, hooks, pool_);
      const auto recorded = digests.find(step + 1);
      if (recorded != digests.end() && goes_on) compare_digests(step + 1, recorded->second, state.digest(0));
    }
  }

  // Whether all parameters of the model are in the run file.
  bool load_weights(State& state) const {
    initialize(state, 0, programs_.declarations(), trial_);
    for (const std::string& path : programs_.trained_paths()) {
      if (!restore_weights(run_, path, state, 0)) return false;
    }
    return true;
  }

  void evaluate_again() {
    State state = programs_.make_state(1);
    if (run_.attributes.status == "diverged" || !load_weights(state)) return;
    std::map<std::string, double> last;
    for (const MetricSeries& series : run_.metrics) {
      if (!series.values.empty()) last[series.name] = series.values.back();
    }
    for (const EvaluateProgram& program : programs_.evaluate()) {
      const Evaluation evaluation = evaluate_trial(program, trial_, inputs_, state, 0, pool_);
      for (const auto& [name, value] : evaluation.metrics) {
        const auto recorded = last.find(name);
        if (recorded != last.end()) compare_numbers(name + " of the stored weights", recorded->second, value);
      }
    }
  }

  const RunRecord& run_;
  const Trial& trial_;
  ThreadPool& pool_;
  TrialPrograms programs_;
  TrialInputs inputs_;
  VerifyReport report_;
};

}  // namespace

bool VerifyReport::passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const Verification& check) { return check.passed; });
}

double verify_tolerance(const Trial& trial) { return trial.experiment.precision == Precision::f64 ? 1e-8 : 2e-3; }

VerifyReport verify_run(const RunRecord& run, const Trial& trial, std::int64_t steps,
                        const std::vector<std::shared_ptr<Device>>& devices,
                        const std::vector<std::pair<std::string, std::string>>& here, ThreadPool& pool) {
  return Verifier(run, trial, devices, pool).verify(steps, name_of_devices(devices), here);
}

}  // namespace jari
