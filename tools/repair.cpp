// jari repair RUNS...: run files anew from journals and checkpoints.

#include "framework/train/repair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/store/run_directory.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

class RepairCommand final : public Command {
 public:
  const char* name() const override { return "repair"; }
  const char* summary() const override { return "make run files anew from journals and checkpoints"; }
  void options(CommandOptions& options) override {
    options.arguments("runs", runs_, "folders of trials or of experiments");
    options.list("--plugin", plugins_, "a loadable module whose components count too");
  }
  int run() override;

 private:
  std::vector<std::string> runs_, plugins_;
};

bool is_trial(const fs::path& folder) { return fs::exists(folder / kJournalFile) || fs::exists(folder / kRunFile); }

// The trial itself, or the trials of an experiment, by name.
std::vector<fs::path> trials_of(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw StoreError(fmt::format("{}: is no folder; give a trial's or an experiment's", folder.string()));
  }
  if (is_trial(folder)) return {folder};
  std::vector<fs::path> trials;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && is_trial(entry.path())) trials.push_back(entry.path());
  }
  if (trials.empty()) {
    throw StoreError(
        fmt::format("{}: holds no trial (a folder with a {} or a {})", folder.string(), kJournalFile, kRunFile));
  }
  std::sort(trials.begin(), trials.end());
  return trials;
}

int RepairCommand::run() {
  const Registry registry = registry_with(plugins_);
  std::size_t failed = 0;
  for (const std::string& path : runs_) {
    const fs::path folder = fs::weakly_canonical(path);
    const std::vector<fs::path> trials = trials_of(folder);
    const RunLock lock(trials.front() == folder ? folder.parent_path() : folder);
    for (const fs::path& trial : trials) {
      fmt::print("{}\n", trial.filename().string());
      try {
        for (const std::string& note : repair_trial(trial, registry).notes) fmt::print("  {}\n", note);
      } catch (const Error& error) {
        ++failed;
        fmt::print("  can not be repaired: {}\n", error.what());
      }
    }
  }
  return failed > 0 ? 3 : 0;
}

}  // namespace

CommandPtr repair_command() { return std::make_unique<RepairCommand>(); }

}  // namespace jari
