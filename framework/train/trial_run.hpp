#pragma once
// One trial of a group while it trains: its folder, journal, checkpoints, and what it does between steps.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "framework/base/log.hpp"
#include "framework/program/nonfinite.hpp"
#include "framework/store/journal.hpp"
#include "framework/train/interrupt.hpp"
#include "framework/train/progress.hpp"
#include "framework/train/record.hpp"
#include "framework/train/trial_inputs.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {

class TrialRun {
 public:
  TrialRun(const TrialPrograms& programs, const Trial& trial, State& state, int row, std::filesystem::path folder,
           const Provenance& provenance, Progress& progress);

  // When set, the trial ends as after a signal. Null: nobody stops it but a signal.
  void set_stop(const std::atomic<bool>* stop) { stop_ = stop; }
  // Watches every step of the program that trains it; null: nobody does.
  void set_search(const NonFiniteSearch* search) { search_ = search; }

  // Makes the folder, goes on from a checkpoint or starts with first values. Throws StoreError.
  void open();

  const Trial& trial() const { return trial_; }
  int row() const { return row_; }
  std::int64_t step() const { return step_; }  // steps done
  bool active() const { return status_.empty(); }
  const std::string& status() const { return status_; }
  const std::string& message() const { return message_; }
  // Whether it resumed from a checkpoint after which no step is left to train.
  bool complete() const;
  void fail(const std::string& message);

  // Program hooks.
  void feed(std::int64_t step, const Tensors& inputs) const;
  bool guard(std::int64_t step, const Tensors& outputs);
  bool is_last(std::int64_t step);
  bool fetch(std::int64_t step, const Tensors& outputs);

  // Whether the trial is evaluated after that step; the results, if they are known by then (a device takes the trials
  // of a group at once).
  bool evaluates_at(std::int64_t step) const;
  const TrialInputs& inputs() const { return inputs_; }
  using Evaluations = std::vector<std::pair<std::string, Evaluation>>;
  void set_evaluations(Evaluations known) { known_evaluations_ = std::move(known); }

  // After steps up to `step`: evaluates, saves, finishes, as the spec says.
  void reached(std::int64_t step, ThreadPool& pool);

 private:
  void resume_or_start();
  void note(const std::string& message);
  void evaluate(ThreadPool& pool);
  void check_stop(const MetricValues& metrics);
  void diverge(std::int64_t step, const std::string& message);
  bool asked_to_stop() const { return interrupted() || (stop_ != nullptr && stop_->load(std::memory_order_relaxed)); }
  std::optional<NonFinite> find_first_bad(ThreadPool& pool);
  void note_digest();
  void save_checkpoint();
  void finish(ThreadPool& pool);

  const TrialPrograms& programs_;
  const Trial& trial_;
  State& state_;
  int row_;
  std::filesystem::path folder_;
  const Provenance& provenance_;
  Progress& progress_;
  TrialInputs inputs_;
  const std::atomic<bool>* stop_ = nullptr;
  const NonFiniteSearch* search_ = nullptr;
  std::unique_ptr<JournalWriter> journal_;
  Log log_;

  std::int64_t step_ = 0;
  std::int64_t steps_ = 0;
  std::string status_;  // "" while it trains
  std::string message_;
  Evaluations evaluations_;        // the newest
  Evaluations known_evaluations_;  // of the step that is reached next
  std::int64_t evaluated_at_ = -1;
  std::int64_t evaluation_in_journal_ = -1;      // the step that it resumed from, if that was evaluated
  std::optional<double> best_;                   // of the stop rule
  std::int64_t without_improvement_ = 0;         // evaluations
  std::map<std::int64_t, std::string> digests_;  // of the state, by step
  double seconds_before_ = 0;                    // of training, in earlier processes
  std::chrono::steady_clock::time_point started_;
};

// Steps after which something is to be done: the first such step after `step`.
std::int64_t next_stop(const TrainSpec& spec, std::int64_t step);

}  // namespace jari
