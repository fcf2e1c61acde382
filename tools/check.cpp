// jari check SPEC: everything that can be known without training.

#include <fmt/format.h>

#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

class CheckCommand final : public Command {
 public:
  const char* name() const override { return "check"; }
  const char* summary() const override { return "find all mistakes of a spec without training"; }
  void options(CommandOptions& options) override { spec_.options(options); }
  int run() override;

 private:
  SpecArguments spec_;
};

int CheckCommand::run() {
  Session session = open_spec(spec_);
  Sweep sweep = checked_sweep(session);
  fmt::print("{}: no mistakes; {} trial{} in {} fused group{}\n", spec_.path, sweep.trials.size(),
             sweep.trials.size() == 1 ? "" : "s", sweep.groups.size(), sweep.groups.size() == 1 ? "" : "s");
  if (sweep.declared > sweep.trials.size()) {
    fmt::print("{} of {} declared trials are equal to others and count once\n", sweep.declared - sweep.trials.size(),
               sweep.declared);
  }
  for (TrialGroup& group : sweep.groups) {
    group.programs->plan();
    if (group.programs->train() == nullptr) continue;
    const PlanReport& report = group.programs->train()->report();
    fmt::print("  {} trial{}, e.g. {}: {} parameters, {:.1f} MB state a trial, {:.1f} MB for a step on each core\n",
               group.trials.size(), group.trials.size() == 1 ? "" : "s", sweep.trials[group.trials.front()].label,
               group.programs->trained_parameters(), static_cast<double>(report.state_bytes) / 1e6,
               static_cast<double>(report.arena_bytes + report.input_bytes + report.workspace_bytes) / 1e6);
  }
  return 0;
}

}  // namespace

CommandPtr check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace jari
