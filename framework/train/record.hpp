#pragma once
// Turns a trained trial into the record that run.h5 holds.

#include <map>
#include <string>
#include <vector>

#include "framework/program/program.hpp"
#include "framework/store/journal.hpp"
#include "framework/store/run_file.hpp"
#include "framework/train/evaluator.hpp"
#include "framework/train/trial.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {

// What is the same for all trials of one `jari run`.
struct Provenance {
  std::string spec_source;                                       // the file as given
  std::string spec_overrides;                                    // one KEY=VALUE a line
  std::string git;                                               // commit of the folder that the spec lies in, or ""
  std::string device;                                            // "cpu"
  std::vector<std::pair<std::string, std::string>> environment;  // versions, host
};

struct TrialResult {
  std::string status;
  std::string message;  // "" or why it diverged
  std::int64_t step = 0;
  std::map<std::int64_t, std::string> digests;                  // of the state, by step
  std::vector<std::pair<std::string, Evaluation>> evaluations;  // by name of the evaluate entry
  std::vector<std::pair<std::string, AnalysisResult>> analyses;
  std::map<std::string, double> seconds;  // by phase
  int threads = 1;
};

RunRecord make_record(const TrialPrograms& programs, const Trial& trial, const State& state, int row,
                      const std::vector<JournalRecord>& journal, const TrialResult& result,
                      const Provenance& provenance);

// Where the values of a parameter stand in a run file: "/weights/embedding" holds "model/embedding". Null: nowhere.
const RecordArray* find_weights(const RunRecord& run, const std::string& parameter_path);

// Gives a parameter of row `row` the values that a run file holds. False if it holds none; StoreError if they do not
// fit.
bool restore_weights(const RunRecord& run, const std::string& parameter_path, State& state, int row);

// Most memory that this process had so far, in bytes.
double peak_memory_bytes();

std::string utc_now();  // "2026-11-29T19:36:22Z"

}  // namespace jari
