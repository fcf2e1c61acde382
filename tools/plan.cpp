// jari plan SPEC [KEY=VALUE ...]: what a run of the spec would do.

#include "framework/sweep/plan.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "framework/sweep/launcher.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

class PlanCommand final : public Command {
 public:
  const char* name() const override { return "plan"; }
  const char* summary() const override { return "what a run of the spec would do: trials, groups, memory, time"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  SpecArguments spec_;
  std::string runs_ = "runs";
  std::string against_;
  std::string format_ = "text";
  bool all_ = false;
  bool no_time_ = false;
};

void PlanCommand::options(CommandOptions& options) {
  spec_.options(options);
  options.option("--runs", runs_, "folder that the experiment's folder is in");
  options.option("--against", against_, "another spec, as it stands: which of its trials this one adds, reuses, drops");
  options.choice("--format", format_, {"text", "csv"}, "csv: a row for each trial");
  options.flag("--all", all_, "list every trial, however many");
  options.flag("--no-time", no_time_, "run no step to estimate the time");
}

int PlanCommand::run() {
  if (!against_.empty() && format_ == "csv") {
    throw SpecError("error: --against is told as text only; leave --format csv out\n");
  }
  Session session = open_spec(spec_);
  Sweep sweep = checked_sweep(session);
  const auto threads = static_cast<int>(sweep.trials.front().experiment.threads);
  PlanOptions options;
  options.runs = runs_;
  options.cores = threads > 0 ? threads : usable_cores();
  options.devices = devices_of(sweep);
  options.estimate_time = !no_time_;
  const SweepPlan plan = plan_sweep(sweep, options);
  fmt::print("{}", format_ == "csv" ? plan_csv(sweep, plan) : plan_text(sweep, plan, all_));
  if (!against_.empty()) {
    Session old_session = open_spec({against_, {}});
    fmt::print("\n{}", against_text(sweep, checked_sweep(old_session), against_));
  }
  return 0;
}

}  // namespace

CommandPtr plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace jari
