#include "framework/train/trial_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/error.hpp"
#include "framework/store/checkpoint.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/train/analyses.hpp"
#include "framework/train/evaluator.hpp"
#include "framework/train/interrupt.hpp"
#include "framework/train/trainer.hpp"

namespace jari {
namespace {

bool is_multiple(std::int64_t step, std::int64_t every) { return every > 0 && step % every == 0; }

std::int64_t after(std::int64_t step, std::int64_t every) { return (step / every + 1) * every; }

Checkpoint snapshot(const State& state, int row, const Trial& trial, std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.trial = trial.hash;
  for (const State::Entry& entry : state.entries()) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(state.data(row) + entry.offset);
    checkpoint.tensors.push_back({entry.name, name_of(entry.type.dtype), entry.type.shape.sizes(),
                                  std::vector<std::uint8_t>(begin, begin + entry.type.bytes())});
  }
  return checkpoint;
}

// Throws StoreError if the checkpoint holds other tensors than this trial has.
void restore(State& state, int row, const Checkpoint& checkpoint, const std::filesystem::path& path) {
  for (const State::Entry& entry : state.entries()) {
    const CheckpointTensor* tensor = checkpoint.find(entry.name);
    if (tensor == nullptr || tensor->bytes.size() != entry.type.bytes()) {
      throw StoreError(
          fmt::format("{}: tensor '{}' should be {}, found {}; it was written by another version of jari: "
                      "remove the file to train from the start",
                      path.string(), entry.name, entry.type.to_string(),
                      tensor ? fmt::format("{} bytes", tensor->bytes.size()) : "nothing"));
    }
    std::copy(tensor->bytes.begin(), tensor->bytes.end(),
              reinterpret_cast<std::uint8_t*>(state.data(row) + entry.offset));
  }
}

}  // namespace

std::int64_t next_stop(const TrainSpec& spec, std::int64_t step) {
  // A hundred steps at most, so that fused trials advance side by side.
  std::int64_t stop = std::min(step + 100, spec.steps);
  stop = std::min(stop, after(step, spec.checkpoint.every));
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
      inputs_(trial, programs.per_trial_paths()),
      steps_(trial.experiment.train ? trial.experiment.train->steps : 0) {}

void TrialRun::open() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw StoreError(fmt::format("{}: can not make the folder: {}; choose another place with --runs", folder_.string(),
                                 error.message()));
  }
  log_ = Log(folder_ / kLogFile);
  resume_or_start();
  log_.info(fmt::format("{} {} from step {} of {} on {}", trial_.label, step_ > 0 ? "goes on" : "starts", step_, steps_,
                        provenance_.device));
  started_ = std::chrono::steady_clock::now();
  progress_.started(trial_, step_);
}

void TrialRun::resume_or_start() {
  const CheckpointSearch search = find_checkpoint(folder_, trial_.hash);
  for (const std::string& damage : search.damage) note(damage);
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
  const std::filesystem::path path = folder_ / kJournalFile;
  const JournalContents journal = rewind_journal(path, step_);
  if (!journal.dropped.empty()) note(journal.dropped);
  journal_ = std::make_unique<JournalWriter>(path);
  journal_->event(
      search.checkpoint ? JournalKind::resume : JournalKind::start, step_,
      {{"trial", trial_.hash}, {"label", trial_.label}, {"time", utc_now()}, {"device", provenance_.device}});
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

void TrialRun::feed(std::int64_t step, const Tensors& inputs) const {
  inputs_.fill(inputs, "train", step);
  write_scalar(inputs, kScheduleFactor, trial_.experiment.train->schedule->factor({step, steps_}));
}

bool TrialRun::fetch(std::int64_t step, const Tensors& outputs) {
  const double loss = outputs.scalar(kLoss), norm = outputs.scalar(kGradientNorm);
  const std::int64_t done = step + 1;
  if (!std::isfinite(loss) || !std::isfinite(norm)) {
    status_ = "diverged";
    message_ = fmt::format("loss {}, gradient norm {} at step {}", loss, norm, done);
    step_ = done;
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
  if (!interrupted() || done == steps_) return true;
  status_ = "interrupted";
  step_ = done;
  return false;
}

void TrialRun::reached(std::int64_t step, ThreadPool& pool) {
  if (status_ == "failed") return;
  if (status_ == "diverged") return finish(pool);
  if (status_ == "interrupted") return save_checkpoint();
  step_ = step;
  const bool last = step_ >= steps_;
  if (trial_.experiment.train) {
    const auto& every = trial_.experiment.train->evaluate_every;
    if (last || (every && is_multiple(step_, *every))) evaluate(pool);
  }
  if (last || status_ == "stopped") return finish(pool);
  if (is_multiple(step_, trial_.experiment.train->checkpoint.every)) save_checkpoint();
}

void TrialRun::evaluate(ThreadPool& pool) {
  MetricValues metrics;
  evaluations_.clear();
  for (const EvaluateProgram& program : programs_.evaluate()) {
    Evaluation evaluation = evaluate_trial(program, trial_, inputs_, state_, row_, pool);
    metrics.insert(metrics.end(), evaluation.metrics.begin(), evaluation.metrics.end());
    evaluations_.emplace_back(program.name, std::move(evaluation));
  }
  evaluated_at_ = step_;
  if (metrics.empty()) return;
  journal_->metrics(step_, metrics);
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

void TrialRun::save_checkpoint() {
  journal_->sync();
  Checkpoint checkpoint = snapshot(state_, row_, trial_, step_);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  checkpoint.numbers["seconds_train"] = seconds_before_ + elapsed.count();
  checkpoint.numbers["without_improvement"] = static_cast<double>(without_improvement_);
  if (best_) checkpoint.numbers["best"] = *best_;
  write_checkpoint(folder_, checkpoint, static_cast<int>(trial_.experiment.train->checkpoint.keep));
  log_.info(fmt::format("checkpoint at step {}{}", step_, status_.empty() ? "" : ", " + status_));
}

void TrialRun::finish(ThreadPool& pool) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  TrialResult result;
  result.step = step_;
  result.threads = pool.threads();
  result.seconds["train"] = seconds_before_ + elapsed.count();
  if (status_ != "diverged") {
    if (status_.empty()) status_ = "finished";
    result.evaluations = evaluations_;
    const auto begin = std::chrono::steady_clock::now();
    result.analyses = run_analyses(programs_, trial_, state_, row_);
    result.seconds["analyses"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  result.status = status_;
  journal_->event(JournalKind::finish, step_, {{"status", status_}, {"message", message_}, {"time", utc_now()}});
  journal_->sync();
  const JournalContents journal = read_journal(folder_ / kJournalFile);
  write_run_file(folder_ / kRunFile,
                 make_record(programs_, trial_, state_, row_, journal.records, result, provenance_));
  remove_checkpoints(folder_);
  log_.info(fmt::format("{} at step {} after {:.1f} s of training{}{}", status_, step_, result.seconds["train"],
                        message_.empty() ? "" : ": ", message_));
  progress_.ended(trial_, status_, message_);
}

}  // namespace jari
