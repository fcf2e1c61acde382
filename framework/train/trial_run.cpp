#include "framework/train/trial_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/error.hpp"
#include "framework/store/checkpoint.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/system_calls.hpp"
#include "framework/train/analyses.hpp"
#include "framework/train/evaluator.hpp"
#include "framework/train/rank_steps.hpp"
#include "framework/train/settled_state.hpp"
#include "framework/train/trainer.hpp"
#include "framework/train/trial_state.hpp"

namespace jari {
namespace {

bool is_multiple(std::int64_t step, std::int64_t every) { return every > 0 && step % every == 0; }

std::int64_t after(std::int64_t step, std::int64_t every) { return (step / every + 1) * every; }

// Steps whose digest is recorded: 1, 10, 100, ... and the last.
std::int64_t digest_step_after(std::int64_t step) {
  std::int64_t next = 1;
  while (next <= step) next *= 10;
  return next;
}

bool is_digest_step(std::int64_t step) { return step > 0 && digest_step_after(step - 1) == step; }

// The sign of a NaN tells nothing.
std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

bool holds_evaluation(const JournalRecord& record, std::int64_t step) {
  return record.step == step && std::any_of(record.values.begin(), record.values.end(),
                                            [](const auto& value) { return value.first.starts_with("evaluate/"); });
}

}  // namespace

std::int64_t next_stop(const TrainSpec& spec, std::int64_t step) {
  // A hundred steps at most, so that fused trials advance side by side.
  std::int64_t stop = std::min(step + 100, spec.steps);
  stop = std::min(stop, after(step, spec.checkpoint.every));
  stop = std::min(stop, digest_step_after(step));
  if (spec.evaluate_every) stop = std::min(stop, after(step, *spec.evaluate_every));
  return stop;
}

TrialRun::TrialRun(const TrialPrograms& programs, const Trial& trial, State& state, int row,
                   std::filesystem::path folder, const Provenance& provenance, Progress& progress)
    : programs_(programs),
      trial_(trial),
      state_(state),
      row_(row),
      folder_(std::move(folder)),
      provenance_(provenance),
      progress_(progress),
      inputs_(trial, programs),
      steps_(trial.experiment.train ? trial.experiment.train->steps : 0) {}

void TrialRun::open() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw_system_error(folder_, "make the folder", error.value());
  remove_temporary_files(folder_);
  log_ = Log(folder_ / kLogFile);
  resume_or_start();
  log_.info(fmt::format("{} {} from step {} of {} on {}", trial_.label, step_ > 0 ? "goes on" : "starts", step_, steps_,
                        provenance_.device));
  started_ = std::chrono::steady_clock::now();
  progress_.started(trial_, step_);
}

void TrialRun::resume_or_start() {
  const std::filesystem::path path = folder_ / kJournalFile;
  // A checkpoint is only as good as the metrics before it: without them the run file would lack rows.
  const auto intact = static_cast<double>(read_journal(path).records.size());
  const auto refuse = [&](const Checkpoint& checkpoint) -> std::string {
    const auto needed = checkpoint.numbers.find("journal_records");
    if (needed == checkpoint.numbers.end() || needed->second <= intact) return "";
    return fmt::format("step {} needs {} lines of {}, and {} are whole", checkpoint.step, needed->second, kJournalFile,
                       intact);
  };
  const CheckpointSearch search = find_checkpoint(folder_, trial_.hash, refuse);
  for (const std::string& damage : search.damage) note(damage);
  // What follows writes other lines in place of those that these need.
  for (const std::filesystem::path& refused : search.refused) std::filesystem::remove(refused);
  if (search.checkpoint) {
    restore(state_, row_, *search.checkpoint, search.path);
    step_ = search.checkpoint->step;
    const auto& numbers = search.checkpoint->numbers;
    seconds_before_ = numbers.at("seconds_train");
    without_improvement_ = static_cast<std::int64_t>(numbers.at("without_improvement"));
    if (numbers.count("best") > 0) best_ = numbers.at("best");
  } else {
    initialize(state_, row_, programs_.declarations(), trial_);
  }
  const JournalContents journal = rewind_journal(path, step_);
  if (!journal.dropped.empty()) note(journal.dropped);
  for (const JournalRecord& record : journal.records) {
    for (const auto& [name, text] : record.details) {
      if (record.kind == JournalKind::state && name == "digest") digests_[record.step] = text;
    }
    if (search.checkpoint && holds_evaluation(record, step_)) evaluation_in_journal_ = step_;
  }
  journal_ = std::make_unique<JournalWriter>(path);
  journal_->event(search.checkpoint ? JournalKind::resume : JournalKind::start, step_,
                  {{"trial", trial_.hash},
                   {"label", trial_.label},
                   {"steps", std::to_string(steps_)},
                   {"index", std::to_string(trial_.index)},
                   {"time", utc_now()},
                   {"device", provenance_.device},
                   {"spec", to_yaml(trial_.resolved)}});
}

bool TrialRun::complete() const {
  if (status_.empty() && step_ > 0 && step_ >= steps_) return true;
  const auto& stop = trial_.experiment.train ? trial_.experiment.train->stop : std::nullopt;
  return status_.empty() && stop && without_improvement_ >= stop->patience;
}

void TrialRun::note(const std::string& message) {
  log_.warn(message);
  progress_.note(trial_, message);
}

void TrialRun::fail(const std::string& message) {
  status_ = "failed";
  message_ = message;
  try {
    if (journal_) journal_->event(JournalKind::failure, step_, {{"message", message}, {"time", utc_now()}});
  } catch (const StoreError&) {
    // The disk may be what failed; the message reaches the user all the same.
  }
  log_.warn("failed: " + message);
  progress_.ended(trial_, status_, message_);
}

void TrialRun::feed(std::int64_t step, const Tensors& inputs) const { inputs_.fill_step(inputs, step); }

void TrialRun::diverge(std::int64_t step, const std::string& message) {
  status_ = "diverged";
  message_ = message;
  step_ = step;
}

// The optimizer has not yet changed anything: a trial that diverges keeps the weights that it had before the step.
bool TrialRun::guard(std::int64_t step, const Tensors& outputs) {
  const double loss = outputs.scalar(kLoss), norm = outputs.scalar(kGradientNorm);
  if (std::isfinite(loss) && std::isfinite(norm)) return true;
  diverge(step + 1,
          fmt::format("loss {}, gradient norm {} at step {}", number_text(loss), number_text(norm), step + 1));
  try {
    journal_->metrics(step + 1, {{"train/loss", loss}, {"train/gradient_norm", norm}});
  } catch (const StoreError& error) {
    fail(error.what());
  }
  return false;
}

bool TrialRun::fetch(std::int64_t step, const Tensors& outputs) {
  const double loss = outputs.scalar(kLoss), norm = outputs.scalar(kGradientNorm);
  const std::int64_t done = step + 1;
  if (search_ != nullptr && search_->found(row_)) {
    diverge(done, fmt::format("not all numbers of step {} are finite", done));
    return false;
  }
  if (done == 1 || done == steps_ || is_multiple(done, trial_.experiment.train->log_every)) {
    try {
      journal_->metrics(done, {{"train/loss", loss}, {"train/gradient_norm", norm}});
    } catch (const StoreError& error) {
      fail(error.what());
      return false;
    }
  }
  progress_.stepped(trial_, done, loss);
  return true;
}

bool TrialRun::is_last(std::int64_t step) {
  const std::int64_t done = step + 1;
  if (!asked_to_stop() || done == steps_) return false;
  status_ = "interrupted";
  step_ = done;
  return true;
}

void TrialRun::reached(std::int64_t step, ThreadPool& pool) {
  if (status_ == "failed") return;
  if (status_ == "diverged") return finish(pool);
  if (status_ == "interrupted") return save_checkpoint();
  step_ = step;
  if (is_digest_step(step_)) note_digest();
  const bool last = step_ >= steps_;
  if (evaluates_at(step_)) evaluate(pool);
  if (last || status_ == "stopped") return finish(pool);
  if (is_multiple(step_, trial_.experiment.train->checkpoint.every)) save_checkpoint();
}

bool TrialRun::evaluates_at(std::int64_t step) const {
  if (!status_.empty() || !trial_.experiment.train) return false;
  const auto& every = trial_.experiment.train->evaluate_every;
  return step >= steps_ || (every && is_multiple(step, *every));
}

void TrialRun::evaluate(ThreadPool& pool) {
  if (programs_.evaluate().empty()) return;
  evaluations_ = std::exchange(known_evaluations_, {});
  if (evaluations_.empty()) {
    SettledState settled(programs_, inputs_, state_, row_, step_, pool);
    for (const EvaluateProgram& program : programs_.evaluate()) {
      evaluations_.emplace_back(program.name,
                                evaluate_trial(program, trial_, inputs_, settled.state(), settled.row(), pool));
    }
  }
  MetricValues metrics;
  for (const auto& [name, evaluation] : evaluations_)
    metrics.insert(metrics.end(), evaluation.metrics.begin(), evaluation.metrics.end());
  evaluated_at_ = step_;
  if (metrics.empty()) return;
  if (step_ != evaluation_in_journal_) journal_->metrics(step_, metrics);
  for (const auto& [name, value] : metrics) log_.info(fmt::format("step {}: {} = {:.6g}", step_, name, value));
  check_stop(metrics);
}

void TrialRun::check_stop(const MetricValues& metrics) {
  const auto& stop = trial_.experiment.train->stop;
  if (!stop) return;
  for (const auto& [name, value] : metrics) {
    if (name != stop->metric) continue;
    const double gain = !best_ ? stop->min_delta + 1 : stop->goal == Goal::minimize ? *best_ - value : value - *best_;
    if (gain > stop->min_delta) {
      best_ = value;
      without_improvement_ = 0;
    } else if (++without_improvement_ >= stop->patience && step_ < steps_) {
      status_ = "stopped";
    }
  }
}

void TrialRun::note_digest() {
  const std::string digest = state_.digest(row_);
  const auto [known, is_first] = digests_.emplace(step_, digest);
  if (is_first) return journal_->event(JournalKind::state, step_, {{"digest", digest}});
  if (known->second == digest) return;
  note(
      fmt::format("step {}: the weights are not those that this trial had there before it was resumed (digest {}, now "
                  "{}): it goes on with another build or on another kind of machine",
                  step_, known->second, digest));
  known->second = digest;
}

// Runs the step again, on the weights that it began with.
std::optional<NonFinite> TrialRun::find_first_bad(ThreadPool& pool) {
  if (search_ != nullptr) return search_->found(row_);
  NonFiniteSearch search;
  Program::Hooks hooks;
  hooks.feed = [this](int, std::int64_t step, const Tensors& inputs) { feed(step, inputs); };
  hooks.guard = [](int, std::int64_t, const Tensors&) { return false; };
  const int rows[] = {row_};
  RankSteps(programs_).run(state_, rows, step_ - 1, step_, hooks, pool, &search);
  return search.found(row_);
}

void TrialRun::save_checkpoint() {
  journal_->sync();
  Checkpoint checkpoint = snapshot(state_, row_, trial_, step_);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  checkpoint.numbers["seconds_train"] = seconds_before_ + elapsed.count();
  checkpoint.numbers["journal_records"] = static_cast<double>(journal_->records());
  checkpoint.numbers["without_improvement"] = static_cast<double>(without_improvement_);
  if (best_) checkpoint.numbers["best"] = *best_;
  write_checkpoint(folder_, checkpoint, static_cast<int>(trial_.experiment.train->checkpoint.keep));
  log_.info(fmt::format("checkpoint at step {}{}", step_, status_.empty() ? "" : ", " + status_));
}

void TrialRun::finish(ThreadPool& pool) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  TrialResult result;
  const std::int64_t steps_done = status_ == "diverged" ? step_ - 1 : step_;  // the last one changed nothing
  SettledState settled(programs_, inputs_, state_, row_, steps_done, pool);
  result.step = step_;
  result.threads = pool.threads();
  result.seconds["train"] = seconds_before_ + elapsed.count();
  if (status_ != "diverged") {
    if (status_.empty()) status_ = "finished";
    result.evaluations = evaluations_;
    const auto begin = std::chrono::steady_clock::now();
    result.analyses = run_analyses(programs_, trial_, settled.state(), settled.row());
    result.seconds["analyses"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (step_ > 0) note_digest();
  } else if (const std::optional<NonFinite> first = find_first_bad(pool)) {
    message_ += "; first not finite: " + first->to_string();
  }
  const bool keeps_checkpoint =
      trial_.experiment.train && status_ != "diverged" && trial_.experiment.keep.checkpoints != Keep::none;
  if (keeps_checkpoint) save_checkpoint();
  result.status = status_;
  result.message = message_;
  result.digests = digests_;
  journal_->event(JournalKind::finish, step_,
                  {{"status", status_},
                   {"message", message_},
                   {"seconds", fmt::format("{:.3f}", result.seconds["train"])},
                   {"time", utc_now()}});
  journal_->sync();
  const JournalContents journal = read_journal(folder_ / kJournalFile);
  write_run_file(folder_ / kRunFile,
                 make_record(programs_, trial_, settled.state(), settled.row(), journal.records, result, provenance_));
  if (!keeps_checkpoint) remove_checkpoints(folder_);
  log_.info(fmt::format("{} at step {} after {:.1f} s of training{}{}", status_, step_, result.seconds["train"],
                        message_.empty() ? "" : ": ", message_));
  progress_.ended(trial_, status_, message_);
}

}  // namespace jari
