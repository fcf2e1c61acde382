// jari run SPEC [KEY=VALUE ...]: trains what is missing, then shows the table.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>

#include "framework/base/error.hpp"
#include "framework/sweep/compare.hpp"
#include "framework/sweep/launcher.hpp"
#include "framework/train/interrupt.hpp"
#include "tools/commands.hpp"
#include "tools/progress_board.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

void announce(const Sweep& sweep) {
  std::int64_t least = 0, most = 0;
  for (const TrialGroup& group : sweep.groups) {
    const std::int64_t parameters = group.programs->trained_parameters();
    least = least == 0 ? parameters : std::min(least, parameters);
    most = std::max(most, parameters);
  }
  fmt::print(stderr, "{}: {} trial{} in {} fused group{}", sweep.experiment, sweep.trials.size(),
             sweep.trials.size() == 1 ? "" : "s", sweep.groups.size(), sweep.groups.size() == 1 ? "" : "s");
  if (most > 0) {
    fmt::print(stderr, ", {} parameters each",
               least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most));
  }
  fmt::print(stderr, "\n");
}

// A second signal of the kind ends the program at once.
void ask_to_stop(int signal) {
  interrupt_signal = signal;
  std::signal(signal, SIG_DFL);
}

bool went_wrong(const TrialOutcome& outcome) { return outcome.status == "failed" || outcome.status == "diverged"; }

// 3 if a trial did not end as it should.
int tell_outcome(const LaunchResult& result, double seconds) {
  std::size_t wrong = 0, trained = 0;
  for (const TrialOutcome& outcome : result.outcomes) {
    trained += outcome.status == "finished" || outcome.status == "stopped" ? 1 : 0;
    if (!went_wrong(outcome)) continue;
    ++wrong;
    fmt::print(stderr, "{}: {}: {}\n", outcome.trial->label, outcome.status, outcome.message);
  }
  fmt::print(stderr, "{} trained in {}, {} already done, {} failed; in {}\n", trained, duration_text(seconds),
             result.already_done, wrong, result.folder.string());
  return wrong > 0 ? 3 : 0;
}

// Final losses are for a closer look; the question is usually about accuracies, where there are some.
bool is_main(const std::string& metric) {
  return metric == "train/loss" || metric.find("/accuracy") != std::string::npos;
}

void keep_main_metrics(Comparison& comparison) {
  if (std::count_if(comparison.metrics.begin(), comparison.metrics.end(), is_main) < 2) return;
  for (std::size_t i = comparison.metrics.size(); i-- > 0;) {
    if (is_main(comparison.metrics[i])) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    comparison.metrics.erase(comparison.metrics.begin() + at);
    for (ComparisonCell& cell : comparison.cells) cell.statistics.erase(cell.statistics.begin() + at);
  }
}

class RunCommand final : public Command {
 public:
  const char* name() const override { return "run"; }
  const char* summary() const override { return "train what is missing of a spec, then show the table"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  SpecArguments spec_;
  std::string runs_ = "runs";
  bool force_ = false;
  bool no_rewrite_ = false;
  bool quiet_ = false;
};

void RunCommand::options(CommandOptions& options) {
  spec_.options(options);
  options.option("--runs", runs_, "folder that the experiment's folder goes into");
  options.flag("--force", force_, "train finished trials again");
  options.flag("--no-rewrite", no_rewrite_, "compute the graphs as they were written");
  options.flag("--quiet", quiet_, "no progress");
}

int RunCommand::run() {
  Session session = open_spec(spec_);
  SweepOptions options;
  options.rewrites = !no_rewrite_;
  Sweep sweep = checked_sweep(session, options);
  announce(sweep);
  LaunchOptions launch_options;
  launch_options.runs = runs_;
  launch_options.force = force_;
  launch_options.threads = static_cast<int>(sweep.trials.front().experiment.threads);
  const auto start = std::chrono::steady_clock::now();
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  LaunchResult result;
  {
    Progress silent;
    std::unique_ptr<ProgressBoard> board;
    if (!quiet_) board = std::make_unique<ProgressBoard>(sweep, stderr, isatty(STDERR_FILENO) == 1);
    Progress& progress = board ? static_cast<Progress&>(*board) : silent;
    result = launch(sweep, session.spec, provenance_of(spec_, session.spec), launch_options, progress);
  }
  const int status =
      tell_outcome(result, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (interrupted()) {
    fmt::print(stderr, "interrupted: all trials are saved; the same command goes on from there\n");
    return 128 + interrupt_signal;
  }
  const bool all_failed = std::all_of(result.outcomes.begin(), result.outcomes.end(), went_wrong);
  if (result.already_done == 0 && all_failed) return status;  // there is nothing to show
  Comparison comparison = compare_runs({result.folder});
  for (const std::string& note : comparison.notes) fmt::print(stderr, "{}\n", note);
  keep_main_metrics(comparison);
  fmt::print("{}", comparison_text(comparison));
  return status;
}

}  // namespace

CommandPtr run_command() { return std::make_unique<RunCommand>(); }

}  // namespace jari
