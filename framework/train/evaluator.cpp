#include "framework/train/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

namespace jari {
namespace {

// Sums over the sequences, by position. Plain doubles in a fixed order: the same at any thread count.
struct Tally {
  Tally(std::int64_t length, const TextSizes* sizes)
      : correct(static_cast<std::size_t>(length)), loss(correct.size()), count(correct.size()), text(sizes) {}
  std::vector<double> correct, loss, count;
  const TextSizes* text;             // null where tokens are no text
  double bytes = 0, characters = 0;  // that the targets stand for

  // The outputs of a program whose reals are of that type.
  template <class Real>
  void add(const Tensors& outputs, std::int64_t sequences) {
    const auto targets = outputs.get<std::int32_t>(kTargets), predictions = outputs.get<std::int32_t>(kPredictions);
    const auto losses = outputs.get<Real>(kLossByPosition);
    const auto tokens = text == nullptr ? targets : outputs.get<std::int32_t>(kTokens);
    const std::size_t length = correct.size();
    for (std::size_t i = 0; i < static_cast<std::size_t>(sequences) * length; ++i) {
      if (targets[i] < 0) continue;
      const std::size_t position = i % length;
      count[position] += 1;
      correct[position] += predictions[i] == targets[i] ? 1 : 0;
      loss[position] += static_cast<double>(losses[i]);
      if (text == nullptr) continue;
      const TextSize size = text->behind(tokens[i], targets[i]);
      bytes += size.bytes;
      characters += size.characters;
    }
  }
};

double ratio(double part, double whole) { return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN(); }

// Mean over the positions [begin, end) of all sequences.
double mean_over(const std::vector<double>& sums, const std::vector<double>& counts, std::size_t begin,
                 std::size_t end) {
  double sum = 0, count = 0;
  for (std::size_t position = begin; position < end; ++position) {
    sum += sums[position];
    count += counts[position];
  }
  return ratio(sum, count);
}

// What one token costs, and what one character and one byte of the text do (bits).
void add_text_metrics(const Tally& tally, const std::string& prefix, Evaluation& result) {
  double loss = 0, count = 0;
  for (std::size_t position = 0; position < tally.loss.size(); ++position) {
    loss += tally.loss[position];
    count += tally.count[position];
  }
  const double bits = loss / std::numbers::ln2;
  result.metrics.emplace_back(prefix + "perplexity", std::exp(ratio(loss, count)));
  if (tally.text == nullptr) return;
  result.metrics.emplace_back(prefix + "bits_per_character", ratio(bits, tally.characters));
  result.metrics.emplace_back(prefix + "bits_per_byte", ratio(bits, tally.bytes));
}

Evaluation summarize(const EvaluateProgram& evaluate, const Tally& tally, bool is_text) {
  const std::size_t length = tally.count.size();
  const std::string prefix = "evaluate/" + evaluate.name + "/";
  Evaluation result;
  result.metrics.emplace_back(prefix + "loss", mean_over(tally.loss, tally.count, 0, length));
  result.metrics.emplace_back(prefix + "accuracy", mean_over(tally.correct, tally.count, 0, length));
  if (is_text) add_text_metrics(tally, prefix, result);
  if (evaluate.spec.seen) {
    const std::size_t seen = static_cast<std::size_t>(*evaluate.spec.seen);
    result.metrics.emplace_back(prefix + "accuracy_seen", mean_over(tally.correct, tally.count, 0, seen));
    result.metrics.emplace_back(prefix + "accuracy_new", mean_over(tally.correct, tally.count, seen, length));
  }
  for (std::size_t position = 0; position < length; ++position) {
    result.accuracy_by_position.push_back(ratio(tally.correct[position], tally.count[position]));
    result.loss_by_position.push_back(ratio(tally.loss[position], tally.count[position]));
  }
  return result;
}

}  // namespace

namespace {

std::int64_t batches_of(const EvaluateProgram& evaluate) {
  return (evaluate.sequences + evaluate.batch - 1) / evaluate.batch;
}

// What the hooks of a program ask by row, and the rows.
class Rows {
 public:
  explicit Rows(const std::vector<EvaluatedTrial>& trials) {
    for (const EvaluatedTrial& each : trials) {
      slot_of_row_[each.row] = rows_.size();
      rows_.push_back(each.row);
    }
  }
  std::size_t slot(int row) const { return slot_of_row_.at(row); }
  const std::vector<int>& all() const { return rows_; }

 private:
  std::map<int, std::size_t> slot_of_row_;
  std::vector<int> rows_;
};

std::vector<Evaluation> evaluate_sequences(const EvaluateProgram& evaluate, const std::vector<EvaluatedTrial>& trials,
                                           State& state, ThreadPool& pool) {
  const Trial& first = *trials.front().trial;
  const bool f64 = first.experiment.precision == Precision::f64;
  const bool is_text = (*first.experiment.task)->as_sequence_task()->predicts_text();
  const std::optional<TextSizes>& text = trials.front().inputs->programs().text_sizes();
  const Rows rows(trials);
  std::vector<Tally> tallies(trials.size(), Tally(*evaluate.spec.length, is_text && text ? &*text : nullptr));

  Program::Hooks hooks;
  hooks.feeds_ahead = true;
  hooks.feed = [&](int row, std::int64_t batch, const Tensors& tensors) {
    trials[rows.slot(row)].inputs->fill(tensors, evaluate.stream, batch);
  };
  hooks.fetch = [&](int row, std::int64_t batch, const Tensors& tensors) {
    const std::int64_t sequences = std::min(evaluate.batch, evaluate.sequences - batch * evaluate.batch);
    Tally& tally = tallies[rows.slot(row)];
    f64 ? tally.add<double>(tensors, sequences) : tally.add<float>(tensors, sequences);
    return true;
  };
  evaluate.program->run(state, rows.all(), 0, batches_of(evaluate), hooks, pool);
  std::vector<Evaluation> results;
  for (const Tally& tally : tallies) results.push_back(summarize(evaluate, tally, is_text));
  return results;
}

// The mean of the batches' losses.
std::vector<Evaluation> evaluate_losses(const EvaluateProgram& evaluate, const std::vector<EvaluatedTrial>& trials,
                                        State& state, ThreadPool& pool) {
  const Rows rows(trials);
  std::vector<double> sums(trials.size(), 0);
  Program::Hooks hooks;
  hooks.feeds_ahead = true;
  hooks.feed = [&](int row, std::int64_t batch, const Tensors& tensors) {
    trials[rows.slot(row)].inputs->fill(tensors, evaluate.stream, batch);
  };
  hooks.fetch = [&](int row, std::int64_t, const Tensors& tensors) {
    sums[rows.slot(row)] += tensors.scalar(kLoss);
    return true;
  };
  const std::int64_t batches = batches_of(evaluate);
  evaluate.program->run(state, rows.all(), 0, batches, hooks, pool);
  std::vector<Evaluation> results;
  for (const double sum : sums)
    results.push_back({{{"evaluate/" + evaluate.name + "/loss", sum / static_cast<double>(batches)}}, {}, {}});
  return results;
}

}  // namespace

std::vector<Evaluation> evaluate_trials(const EvaluateProgram& evaluate, const std::vector<EvaluatedTrial>& trials,
                                        State& state, ThreadPool& pool) {
  if (trials.empty()) return {};
  return evaluate.by_position ? evaluate_sequences(evaluate, trials, state, pool)
                              : evaluate_losses(evaluate, trials, state, pool);
}

Evaluation evaluate_trial(const EvaluateProgram& evaluate, const Trial& trial, const TrialInputs& inputs, State& state,
                          int row, ThreadPool& pool) {
  return evaluate_trials(evaluate, {{&trial, &inputs, row}}, state, pool).front();
}

}  // namespace jari
