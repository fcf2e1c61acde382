#include "framework/train/repair.hpp"

#include <fmt/format.h>

#include <optional>

#include "framework/base/error.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/checkpoint.hpp"
#include "framework/store/journal.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"
#include "framework/train/record.hpp"
#include "framework/train/trial.hpp"
#include "framework/train/trial_programs.hpp"
#include "framework/train/trial_state.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

std::string detail(const JournalRecord& record, const std::string& name) {
  for (const auto& [key, text] : record.details) {
    if (key == name) return text;
  }
  return "";
}

class Repair {
 public:
  Repair(fs::path folder, const Registry& registry) : folder_(std::move(folder)), registry_(registry) {}

  RepairReport run() {
    remove_temporary_files(folder_);
    const bool whole = run_file_is_whole();
    mend_journal();
    if (whole) return std::move(report_);
    const Trial trial = trial_of_journal();
    write_record(trial);
    return std::move(report_);
  }

 private:
  void note(const std::string& text) { report_.notes.push_back(text); }

  void put_aside(const char* name) {
    const fs::path path = folder_ / name;
    rename_file(path, fs::path(path.string() + ".damaged"));
    note(fmt::format("{} was renamed to {}.damaged", name, name));
  }

  bool run_file_is_whole() {
    if (!fs::exists(folder_ / kRunFile)) {
      note("there is no run.h5");
      return false;
    }
    try {
      const RunRecord record = read_run_file(folder_ / kRunFile);
      note(fmt::format("run.h5 is whole ({})", record.attributes.status));
      return record.attributes.status != "interrupted";
    } catch (const StoreError& error) {
      note(error.what());
      put_aside(kRunFile);
      return false;
    }
  }

  void mend_journal() {
    const fs::path path = folder_ / kJournalFile;
    journal_ = read_journal(path);
    if (journal_.dropped.empty()) return;
    note(journal_.dropped);
    fs::copy_file(path, fs::path(path.string() + ".damaged"), fs::copy_options::overwrite_existing);
    const JournalWriter without_damage(path);
    note(fmt::format("{} keeps the {} lines before; a copy of the whole is {}.damaged", kJournalFile,
                     journal_.records.size(), kJournalFile));
  }

  Trial trial_of_journal() const {
    for (auto record = journal_.records.rbegin(); record != journal_.records.rend(); ++record) {
      const std::string spec = detail(*record, "spec");
      if (spec.empty()) continue;
      Diagnostics diagnostics;
      const SpecNode node = read_yaml_text(spec, (folder_ / kJournalFile).string() + ":spec", diagnostics);
      Trial trial = bind_trial(node, registry_, diagnostics);
      diagnostics.throw_if_any();
      trial.label = detail(*record, "label");
      trial.folder = folder_.filename().string();
      const std::string index = detail(*record, "index");
      trial.index = index.empty() ? -1 : std::stoll(index);
      if (trial.hash == detail(*record, "trial")) return trial;
      throw StoreError(
          fmt::format("{}: its spec is trial {} in this version of jari, but it was written as {}; use the "
                      "version that wrote it, or train it again with `jari run`",
                      (folder_ / kJournalFile).string(), trial.hash, detail(*record, "trial")));
    }
    throw StoreError(
        fmt::format("{}: no line says which trial it is of, so there is nothing to rebuild a run file from; train it "
                    "again with `jari run`",
                    (folder_ / kJournalFile).string()));
  }

  std::optional<Checkpoint> newest_checkpoint(const Trial& trial) {
    CheckpointSearch search = find_checkpoint(folder_, trial.hash);
    for (const std::string& damage : search.damage) note(damage);
    if (search.checkpoint) {
      note(fmt::format("weights are those of {} (step {})", search.path.filename().string(), search.checkpoint->step));
    }
    return std::move(search.checkpoint);
  }

  bool has_ended() const {
    bool ended = false;
    for (const JournalRecord& record : journal_.records) {
      if (record.kind == JournalKind::finish) ended = true;
      if (record.kind == JournalKind::resume || record.kind == JournalKind::start) ended = false;
    }
    return ended;
  }

  void write_record(const Trial& trial) {
    TrialPrograms programs(trial.experiment);
    State state = programs.make_state(1);
    const std::optional<Checkpoint> checkpoint = newest_checkpoint(trial);
    if (checkpoint) restore(state, 0, *checkpoint, folder_);
    TrialResult result;
    result.status = has_ended() ? "repaired" : "interrupted";
    if (checkpoint) result.step = checkpoint->step;
    Provenance provenance;
    provenance.device = "cpu";
    provenance.environment = {{"repaired", fmt::format("{}", fmt::join(report_.notes, "\n"))}};
    RunRecord record = make_record(programs, trial, state, 0, journal_.records, result, provenance);
    if (!checkpoint) record.weights.clear();
    write_run_file(folder_ / kRunFile, record);
    report_.made_run_file = true;
    std::size_t rows = 0;
    for (const MetricSeries& series : record.metrics) rows += series.steps.size();
    note(fmt::format("run.h5 was made: status {}, {} values of {} metrics, {}", result.status, rows,
                     record.metrics.size(), checkpoint ? "weights" : "no weights"));
    note(result.status == "repaired" ? "`jari run` trains it again, to the same bits, to have weights and arrays back"
                                     : "`jari run` goes on with it from its checkpoint");
  }

  fs::path folder_;
  const Registry& registry_;
  JournalContents journal_;
  RepairReport report_;
};

}  // namespace

RepairReport repair_trial(const fs::path& folder, const Registry& registry) { return Repair(folder, registry).run(); }

}  // namespace jari
