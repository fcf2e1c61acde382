// jari verify RUNS...: trains parts of finished trials again and compares.

#include "framework/train/verify.hpp"
#include "framework/train/device_choice.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/base/table.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/sweep/launcher.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

class VerifyCommand final : public Command {
 public:
  const char* name() const override { return "verify"; }
  const char* summary() const override { return "train parts of finished trials again and compare the bits"; }
  void options(CommandOptions& options) override {
    options.arguments("runs", runs_, "run files, or folders of trials");
    options.option("--steps", steps_, "steps to train again from the start");
    options.list("--plugin", plugins_, "a loadable module whose components count too");
    options.flag("--all", all_, "list every comparison, not only those that failed");
  }
  int run() override;

 private:
  bool verify(const std::string& path, const Registry& registry) const;

  std::vector<std::string> runs_, plugins_;
  std::int64_t steps_ = 100;
  bool all_ = false;
};

Trial trial_of(const RunRecord& run, const std::string& path, const Registry& registry) {
  Diagnostics diagnostics;
  const SpecNode spec = read_yaml_text(run.spec_resolved, path + ":/spec/resolved", diagnostics);
  Trial trial = bind_trial(spec, registry, diagnostics);
  diagnostics.throw_if_any();
  trial.label = run.attributes.label;
  if (trial.hash != run.attributes.trial) {
    throw StoreError(
        fmt::format("{}: its spec is trial {} in this version of jari, but it was written as {} by jari {}; "
                    "verify it with that version",
                    path, trial.hash, run.attributes.trial, run.attributes.jari_version));
  }
  return trial;
}

void show(const VerifyReport& report, bool all) {
  TextTable table({{"what"}, {"recorded", Align::right}, {"now", Align::right}, {"difference", Align::right}, {""}});
  std::size_t shown = 0;
  for (const Verification& check : report.checks) {
    if (check.passed && !all) continue;
    ++shown;
    table.add_row({check.what, check.recorded, check.found, check.equal ? "-" : fmt::format("{:.2g}", check.difference),
                   check.passed ? "" : "FAILED"});
  }
  if (shown > 0) fmt::print("{}", table.text());
}

bool VerifyCommand::verify(const std::string& path, const Registry& registry) const {
  const RunRecord run = read_run_file(path);
  const Trial trial = trial_of(run, path, registry);
  ThreadPool pool(usable_cores());
  const Devices devices = run.attributes.device == "cpu" ? Devices() : devices_of(trial.experiment);
  const VerifyReport report = verify_run(run, trial, steps_, devices, environment_here(devices), pool);
  std::size_t equal = 0;
  double largest = 0;
  for (const Verification& check : report.checks) {
    equal += check.equal ? 1 : 0;
    largest = std::max(largest, check.difference);
  }
  fmt::print("{}: {}: {} steps trained again, {} of {} comparisons equal to the last bit", trial.label,
             report.passed() ? "verified" : "NOT VERIFIED", report.steps, equal, report.checks.size());
  if (!report.same_machine) {
    fmt::print("; another machine ({}), so numbers may differ by {:g} of their size: the most is {:.2g}",
               report.difference, report.tolerance, largest);
  }
  fmt::print("\n");
  show(report, all_);
  return report.passed();
}

int VerifyCommand::run() {
  if (steps_ < 1) throw SpecError(fmt::format("error: --steps {}: expected 1 or more\n", steps_));
  const Registry registry = registry_with(plugins_);
  bool passed = true;
  for (const std::string& path : runs_) {
    const bool is_folder = std::filesystem::is_directory(path);
    passed = verify(is_folder ? (std::filesystem::path(path) / kRunFile).string() : path, registry) && passed;
  }
  return passed ? 0 : 3;
}

}  // namespace

CommandPtr verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace jari
