// jari run SPEC [KEY=VALUE ...]: trains what is missing, then shows the table.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>

#include "framework/base/error.hpp"
#include "framework/base/quantity.hpp"
#include "framework/report/compare.hpp"
#include "framework/store/main_metrics.hpp"
#include "framework/sweep/keep_policy.hpp"
#include "framework/sweep/launcher.hpp"
#include "framework/train/dump.hpp"
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

void show_profile(const Sweep& sweep, const LaunchResult::GroupProfile& profile) {
  const std::vector<std::size_t>& trials = profile.group->trials;
  fmt::print("profile of {}{}: {}\n", sweep.trials[trials.front()].label,
             trials.size() > 1 ? fmt::format(" and {} more", trials.size() - 1) : "", profile.profile->to_string());
}

// A full disk is found before the first step where it can be.
void warn_of_full_disk(const Sweep& sweep, const LaunchOptions& options) {
  const int cores = options.threads > 0 ? options.threads : usable_cores();
  const double need = disk_need(sweep, trials_a_batch(cores)).while_training;
  std::filesystem::path folder = std::filesystem::absolute(options.runs);
  while (!std::filesystem::exists(folder)) folder = folder.parent_path();
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error || need <= static_cast<double>(space.available)) return;
  fmt::print(stderr,
             "warning: {}: {:.0f} MB are free and about {:.0f} MB are needed: free some space, choose another place "
             "with --runs, or keep less (`keep` in the spec)\n",
             folder.string(), static_cast<double>(space.available) / 1e6, need / 1e6);
}

// Final losses are for a closer look; the question is usually about what tests are told by, where there are some.
void keep_main_metrics(Comparison& comparison) {
  for (const std::string_view kind : kMainMetrics) {
    const auto is_told_by = [&](const std::string& path) { return path.find(kind) != path.npos; };
    if (std::ranges::none_of(comparison.metrics, is_told_by, &ComparedMetric::path)) continue;
    return keep_metrics(comparison, [&](const std::string& path) { return path == "train/loss" || is_told_by(path); });
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
  bool wait_ = false;
  bool check_nan_ = false;
  bool profile_ = false;
  std::vector<std::string> dumps_;

  LaunchOptions launch_options(const Sweep& sweep) const;
};

void RunCommand::options(CommandOptions& options) {
  spec_.options(options);
  options.option("--runs", runs_, "folder that the experiment's folder goes into");
  options.flag("--force", force_, "train finished trials again");
  options.flag("--no-rewrite", no_rewrite_, "compute the graphs as they were written");
  options.flag("--quiet", quiet_, "no progress");
  options.flag("--wait", wait_, "wait for another process that writes the folder, instead of refusing");
  options.flag("--check-nan", check_nan_, "look at every node of every step: end a trial at its first bad number");
  options.list("--dump", dumps_, "PATH@STEP: write what these nodes hold in a step; * in PATH is any text");
  options.flag("--profile", profile_, "show seconds and bytes by kind of op and by node");
}

LaunchOptions RunCommand::launch_options(const Sweep& sweep) const {
  LaunchOptions options;
  options.runs = runs_;
  options.devices = devices_of(sweep);
  options.force = force_;
  options.threads = static_cast<int>(sweep.trials.front().experiment.threads);
  options.wait = wait_;
  options.profile = profile_;
  options.train.check_nan = check_nan_;
  for (const std::string& dump : dumps_) options.train.dumps.push_back(parse_dump_request(dump));
  return options;
}

int RunCommand::run() {
  Session session = open_spec(spec_);
  SweepOptions options;
  options.rewrites = !no_rewrite_;
  Sweep sweep = checked_sweep(session, options);
  announce(sweep);
  const LaunchOptions launch_options = this->launch_options(sweep);
  warn_of_full_disk(sweep, launch_options);
  const auto start = std::chrono::steady_clock::now();
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  LaunchResult result;
  {
    Progress silent;
    std::unique_ptr<ProgressBoard> board;
    if (!quiet_) board = std::make_unique<ProgressBoard>(sweep, stderr, isatty(STDERR_FILENO) == 1);
    Progress& progress = board ? static_cast<Progress&>(*board) : silent;
    Provenance provenance = provenance_of(spec_, session.spec, launch_options.devices);
    provenance.environment.emplace_back("rewrites", no_rewrite_ ? "off" : "on");
    result = launch(sweep, session.spec, provenance, launch_options, progress);
  }
  const int status =
      tell_outcome(result, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  for (const LaunchResult::GroupProfile& profile : result.profiles) show_profile(sweep, profile);
  if (interrupted()) {
    fmt::print(stderr, "interrupted: all trials are saved; the same command goes on from there\n");
    return 128 + interrupt_signal;
  }
  if (result.stopped) {
    fmt::print(stderr,
               "stopped because a trial failed (on_failure: stop); all others are saved, and the same command goes on "
               "from there\n");
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
