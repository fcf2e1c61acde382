#include "framework/report/listing.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "framework/base/error.hpp"
#include "framework/spec/scalar.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/checkpoint.hpp"
#include "framework/store/journal.hpp"
#include "framework/store/main_metrics.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"
#include "framework/sweep/sweep_folder.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

std::string detail(const JournalRecord& record, const std::string& name) {
  const auto found = std::ranges::find(record.details, name, [](const auto& each) { return each.first; });
  return found == record.details.end() ? "" : found->second;
}

// Space and newest change of all files in and below a folder; files that vanish meanwhile do not count.
void measure(const fs::path& folder, std::uintmax_t& bytes, fs::file_time_type& last_write) {
  std::error_code error;
  last_write = fs::last_write_time(folder, error);
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    struct stat status {};
    if (!entry->is_regular_file(error) || ::lstat(entry->path().c_str(), &status) != 0) continue;
    constexpr std::uintmax_t kBlock = 512;  // that of st_blocks
    bytes += static_cast<std::uintmax_t>(status.st_blocks) * kBlock;
    const fs::file_time_type written = entry->last_write_time(error);
    if (!error) last_write = std::max(last_write, written);
  }
}

// Whether a process has locked the folder. Trying the lock could turn away a `jari run` that starts at that moment, so
// the kernel's list is read instead: "1: FLOCK  ADVISORY  WRITE 4711 fe:01:1234567 0 EOF".
bool is_locked(const fs::path& folder) {
  struct stat status {};
  if (::stat((folder / ".lock").c_str(), &status) != 0) return false;
  const std::string wanted =
      fmt::format(" {:02x}:{:02x}:{} ", major(status.st_dev), minor(status.st_dev), status.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    if (line.find("FLOCK") != std::string::npos && line.find(wanted) != std::string::npos) return true;
  }
  return false;
}

// From the newest record that has one: the metric that was asked for, or one that tests are told by, or the loss.
void find_metric(const std::vector<JournalRecord>& records, const std::string& wanted, ListedTrial& trial) {
  const auto find = [&](const auto& fits) {
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
      for (auto value = record->values.rbegin(); value != record->values.rend(); ++value) {
        if (!fits(value->first)) continue;
        trial.metric = value->first;
        trial.value = value->second;
        return true;
      }
    }
    return false;
  };
  if (!wanted.empty()) {
    find([&](const std::string& name) { return name == wanted; });
    return;
  }
  for (const std::string_view kind : kMainMetrics)
    if (find([&](const std::string& name) { return name.ends_with(kind); })) return;
  find([](const std::string& name) { return name == "train/loss"; });
}

// What the events say: the newest one names the state, the first one the plan.
void read_events(const JournalEnds& journal, ListedTrial& trial) {
  if (journal.first) {
    const std::string label = detail(*journal.first, "label");
    if (!label.empty()) trial.label = label;
    trial.steps = parse_integer(detail(*journal.first, "steps"));
  }
  if (!journal.last.empty()) trial.step = journal.last.back().step;
  const auto event = std::find_if(journal.last.rbegin(), journal.last.rend(), [](const JournalRecord& record) {
    return record.kind != JournalKind::metrics && record.kind != JournalKind::state;
  });
  if (event == journal.last.rend()) return;
  trial.message = detail(*event, "message");
  if (event->kind == JournalKind::failure) trial.status = "failed";
  if (event->kind != JournalKind::finish) return;
  trial.status = detail(*event, "status");
  trial.seconds = parse_number(detail(*event, "seconds"));
}

void read_run(const fs::path& path, ListedTrial& trial) {
  try {
    const RunSummary summary = read_run_summary(path);
    trial.status = summary.attributes.status;
    trial.label = summary.attributes.label;
  } catch (const StoreError& error) {
    trial.status = "damaged";
    trial.message = error.what();
  }
}

void read_checkpoint_numbers(const fs::path& folder, ListedTrial& trial) {
  const CheckpointSearch search = find_checkpoint(folder);
  trial.step = search.checkpoint ? search.checkpoint->step : 0;
  if (!search.checkpoint) return;
  const auto seconds = search.checkpoint->numbers.find("seconds_train");
  if (seconds != search.checkpoint->numbers.end()) trial.seconds = seconds->second;
}

ListedTrial list_trial(const fs::path& folder, bool is_active, const ListOptions& options) {
  ListedTrial trial;
  trial.folder = folder;
  trial.label = folder.filename().string();
  measure(folder, trial.bytes, trial.last_write);
  JournalEnds journal;
  try {
    if (fs::exists(folder / kJournalFile)) journal = read_journal_ends(folder / kJournalFile);
  } catch (const StoreError& error) {
    trial.message = error.what();
  }
  read_events(journal, trial);
  find_metric(journal.last, options.metric, trial);
  const bool is_done = trial.status == "finished" || trial.status == "stopped" || trial.status == "diverged";
  if (fs::exists(folder / kRunFile)) {
    if (!is_done) read_run(folder / kRunFile, trial);
    return trial;
  }
  if (trial.status == "failed") return trial;
  trial.status = is_active ? "training" : "interrupted";
  if (!is_active && options.details) read_checkpoint_numbers(folder, trial);
  return trial;
}

bool is_trial(const fs::path& folder) { return fs::exists(folder / kJournalFile) || fs::exists(folder / kRunFile); }

using Places = std::map<std::string, std::size_t>;

// The trials' folders that sweep.yaml names, by their place; nothing if it can not be read.
std::optional<Places> declared_folders(const fs::path& experiment) {
  Diagnostics diagnostics;
  const SpecNode sweep = read_yaml((experiment / kSweepFile).string(), diagnostics);
  const SpecNode* trials = sweep.is_mapping() ? sweep.find("trials") : nullptr;
  if (trials == nullptr) return std::nullopt;
  Places places;
  for (const SpecNode& trial : trials->items) {
    if (const SpecNode* folder = trial.find("folder")) places.emplace(folder->text, places.size());
  }
  return places;
}

// Those of the sweep in its order, others behind them by name.
std::vector<fs::path> trial_folders(const fs::path& experiment, const Places& places) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(experiment)) {
    if (entry.is_directory() && is_trial(entry.path())) folders.push_back(entry.path());
  }
  std::ranges::sort(folders, {}, [&](const fs::path& path) {
    const auto found = places.find(path.filename().string());
    return std::pair(found == places.end() ? places.size() : found->second, path);
  });
  return folders;
}

std::string name_of(const fs::path& folder) {
  const fs::path full = fs::weakly_canonical(folder);
  return (full.has_filename() ? full : full.parent_path()).filename().string();
}

}  // namespace

std::size_t ListedExperiment::count(const std::string& status) const {
  return static_cast<std::size_t>(std::ranges::count(trials, status, &ListedTrial::status));
}

std::size_t ListedExperiment::done() const { return count("finished") + count("stopped"); }

std::vector<fs::path> find_experiments(const fs::path& path) {
  if (!fs::is_directory(path))
    throw StoreError(fmt::format("{}: there is no such folder; `jari run` makes it, or name another", path.string()));
  if (fs::exists(path / kSweepFile)) return {path};
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.is_directory() && fs::exists(entry.path() / kSweepFile)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

ListedExperiment list_experiment(const fs::path& folder, const ListOptions& options) {
  ListedExperiment experiment;
  experiment.folder = folder;
  experiment.name = name_of(folder);
  const std::optional<Places> places = declared_folders(folder);
  if (places) experiment.declared = places->size();
  const bool is_active = is_locked(folder);
  std::error_code error;
  experiment.last_write = fs::last_write_time(folder, error);
  for (const fs::path& path : trial_folders(folder, places.value_or(Places{}))) {
    ListedTrial trial = list_trial(path, is_active, options);
    experiment.bytes += trial.bytes;
    experiment.last_write = std::max(experiment.last_write, trial.last_write);
    experiment.trials.push_back(std::move(trial));
  }
  return experiment;
}

}  // namespace jari
