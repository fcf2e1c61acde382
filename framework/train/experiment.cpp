#include "framework/train/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jari {
namespace {

// Names that become folders: letters, digits and a few marks, so that they are the same on every file system.
bool is_folder_name(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80; };
  return !name.empty() && name.front() != '.' && name.size() <= 100 && std::all_of(name.begin(), name.end(), fits);
}

// The length of sequences in the block at `path`: there if the task has sequences, and only then.
void check_length(const std::string& path, const std::optional<std::int64_t>& length, const Task& task,
                  FieldChecks& checks) {
  const SequenceTask* sequences = task.as_sequence_task();
  if (sequences == nullptr) {
    if (length) checks.error(path + ".length", "has no effect: the task has no sequences", "take it out");
  } else if (!length) {
    checks.error(path, "the length of the sequences is not given", "add length: how many tokens a sequence has");
  } else if (const std::string refusal = sequences->refuse_length(*length); !refusal.empty()) {
    checks.error(path + ".length", refusal);
  }
}

void check_training(const Experiment& experiment, FieldChecks& checks) {
  if (!experiment.train) return;
  if (!experiment.task || !experiment.model) {
    checks.error("train", fmt::format("there is no `{}` to train", experiment.model ? "task" : "model"),
                 "add it, or take `train` out");
    return;
  }
  const std::string refusal = (*experiment.task)->refuse_model(**experiment.model);
  if (!refusal.empty())
    checks.error("model", fmt::format("task/{} can not train model/{}: {}", experiment.task->type(),
                                      experiment.model->type(), refusal));
  if (experiment.train->epochs && !(*experiment.task)->has_epochs()) {
    checks.error("train.epochs", fmt::format("task/{} draws at random: it knows no epochs", experiment.task->type()),
                 "give train.steps");
  }
  check_length("train", experiment.train->length, **experiment.task, checks);
  if (experiment.train->accumulate > 1 && (*experiment.task)->as_sequence_task() == nullptr)
    checks.error("train.accumulate", "has no effect: the task has no sequences", "take it out");
  if (experiment.train->data_parallel > 1 && (*experiment.task)->as_sequence_task() == nullptr)
    checks.error("train.data_parallel", "the task has no sequences that cards could share", "take it out");
  if (experiment.train->data_parallel > 1 && experiment.device.choice == DeviceChoice::cpu)
    checks.error("train.data_parallel", "is for cards, and the spec says device: cpu", "take one of the two out");
}

// A `data` block alone is for `jari tokens`, which reads no other.
void check_data(const Experiment& experiment, FieldChecks& checks) {
  if (!experiment.data || (!experiment.train && experiment.analyses.empty())) return;
  if (experiment.task && (*experiment.task)->reads_data()) return;
  checks.error("data", "has no effect: no task reads it",
               experiment.task
                   ? fmt::format("task/{} makes its own tokens: take `data` out, or choose a task that reads text",
                                 experiment.task->type())
                   : "take it out, or add a task that reads text");
}

void check_evaluate(const Experiment& experiment, FieldChecks& checks) {
  for (const auto& [name, evaluate] : experiment.evaluate) {
    const std::string path = "evaluate." + name;
    if (!is_folder_name(name)) checks.error(path, "not a usable name", "use letters, digits, '_' and '-'");
    if (!experiment.train) {
      checks.error(path, "there is no `train`, so nothing to evaluate");
      continue;
    }
    if (!experiment.task) continue;
    check_length(path, evaluate.length, **experiment.task, checks);
    const SequenceTask* sequences = (*experiment.task)->as_sequence_task();
    if (evaluate.seen && sequences == nullptr)
      checks.error(path + ".seen", "has no effect: the task has no sequences", "take it out");
    if (evaluate.stride && (sequences == nullptr || !sequences->predicts_text()))
      checks.error(path + ".stride", "has no effect: the task's sequences are no text", "take it out");
  }
}

std::vector<std::string> evaluated_metrics(const Experiment& experiment) {
  std::vector<std::string> known;
  for (const auto& [name, evaluate] : experiment.evaluate) {
    known.push_back(fmt::format("evaluate/{}/loss", name));
    const SequenceTask* sequences = experiment.task ? (*experiment.task)->as_sequence_task() : nullptr;
    if (experiment.task && sequences == nullptr) continue;
    known.push_back(fmt::format("evaluate/{}/accuracy", name));
    if (sequences != nullptr && sequences->predicts_text()) {
      for (const char* kind : {"perplexity", "bits_per_character", "bits_per_byte"})
        known.push_back(fmt::format("evaluate/{}/{}", name, kind));
    }
    if (!evaluate.seen) continue;
    for (const char* kind : {"accuracy_seen", "accuracy_new"})
      known.push_back(fmt::format("evaluate/{}/{}", name, kind));
  }
  return known;
}

void check_metric(const std::string& path, const std::string& metric, const std::vector<std::string>& known,
                  FieldChecks& checks) {
  if (std::find(known.begin(), known.end(), metric) != known.end()) return;
  checks.error(path, fmt::format("no metric '{}' is evaluated", metric),
               known.empty() ? "add an entry under `evaluate`" : fmt::format("known: {}", fmt::join(known, ", ")));
}

void check_metrics(const Experiment& experiment, FieldChecks& checks) {
  if (!experiment.train) return;
  std::vector<std::string> known = evaluated_metrics(experiment);
  if (experiment.train->stop) check_metric("train.stop.metric", experiment.train->stop->metric, known, checks);
  known.emplace_back("train/loss");
  if (!experiment.keep.metric.empty()) check_metric("keep.metric", experiment.keep.metric, known, checks);
}

}  // namespace

void Experiment::check(FieldChecks& checks) const {
  if (!is_folder_name(experiment)) {
    checks.error("experiment", fmt::format("'{}' can not name a folder", experiment),
                 "use letters, digits, '_', '-' and '.', at most 100 of them");
  }
  if (model && !train) checks.error("model", "there is no `train` to train it", "add `train`, or take `model` out");
  if (task && !train) checks.error("task", "there is no `train` that uses it", "add `train`, or take `task` out");
  if (!train && analyses.empty()) {
    checks.error("", "nothing to do: neither `train` nor `analyses`",
                 data ? "add one of them; `data` alone is for `jari tokens`" : "add one of them");
  }
  if (table && analyses.empty()) checks.error("table", "has no effect: no analysis looks into it", "add `analyses`");
  if (table && model)
    checks.error("table", "the analyses would look into it, not into the model", "take one of them out");
  check_data(*this, checks);
  check_training(*this, checks);
  check_evaluate(*this, checks);
  check_metrics(*this, checks);
}

}  // namespace jari
