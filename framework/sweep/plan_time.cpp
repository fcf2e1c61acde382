#include "framework/sweep/plan_time.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iomanip>
#include <sstream>

#include "framework/train/trainer.hpp"
#include "framework/train/trial_inputs.hpp"

namespace jari {
namespace {

// Seconds since 1970 of "2026-11-29T19:36:22Z".
std::optional<double> parse_utc(const std::string& text) {
  std::tm time{};
  std::istringstream stream(text);
  stream >> std::get_time(&time, "%Y-%m-%dT%H:%M:%SZ");
  if (stream.fail()) return std::nullopt;
  return static_cast<double>(timegm(&time));
}

// Seconds that lie in any of the intervals.
double union_length(std::vector<std::pair<double, double>> intervals) {
  std::ranges::sort(intervals);
  double length = 0, covered_to = 0;
  for (const auto& [begin, end] : intervals) {
    length += std::max(0.0, end - std::max(begin, covered_to));
    covered_to = std::max(covered_to, end);
  }
  return length;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Stopwatch {
 public:
  Stopwatch(const TrialPrograms& programs, const std::vector<const Trial*>& trials, int cores)
      : programs_(programs), pool_(cores), state_(programs.make_state(static_cast<int>(trials.size()))) {
    for (std::size_t row = 0; row < trials.size(); ++row) {
      rows_.push_back(static_cast<int>(row));
      inputs_.emplace_back(*trials[row], programs);
      initialize(state_, static_cast<int>(row), programs.declarations(), *trials[row]);
    }
  }

  // Seconds of one step of one trial, all cores at work: as they come by, without what a first step takes longer.
  double seconds_a_step(const Program& program, const BatchStream& stream, std::int64_t most_steps, double budget) {
    Program::Hooks hooks;
    hooks.feed = [&](int row, std::int64_t step, const Tensors& inputs) {
      inputs_[static_cast<std::size_t>(row)].fill(inputs, stream, step);
    };
    hooks.fetch = [](int, std::int64_t, const Tensors&) { return true; };
    const auto first = std::chrono::steady_clock::now();
    program.run(state_, rows_, 0, 1, hooks, pool_);
    double seconds = seconds_since(first);
    std::int64_t steps = 1;
    if (seconds < budget) {
      seconds = 0;
      steps = 0;
      for (std::int64_t next = 1; seconds < budget; next = std::min(2 * next, std::max<std::int64_t>(most_steps, 1))) {
        const auto start = std::chrono::steady_clock::now();
        program.run(state_, rows_, 0, next, hooks, pool_);
        seconds += seconds_since(start);
        steps += next;
      }
    }
    return seconds / static_cast<double>(steps) / static_cast<double>(rows_.size());
  }

 private:
  const TrialPrograms& programs_;
  ThreadPool pool_;
  State state_;
  std::vector<int> rows_;
  std::vector<TrialInputs> inputs_;
};

std::int64_t evaluations(const TrainSpec& spec) {
  if (!spec.evaluate_every || spec.steps == 0) return 1;
  return 1 + (spec.steps - 1) / *spec.evaluate_every;
}

}  // namespace

std::optional<TimeEstimate> time_from_runs(const std::vector<RunOutline>& finished, int cores) {
  constexpr double kShortest = 5;  // seconds
  std::vector<std::pair<double, double>> intervals;
  for (const RunOutline& run : finished) {
    const std::optional<double> end = parse_utc(run.attributes.created);
    if (end && run.seconds_train > 0) intervals.emplace_back(*end - run.seconds_train, *end);
  }
  // Fewer than a core each ran beside trials of other groups.
  if (static_cast<int>(intervals.size()) < cores) return std::nullopt;
  const std::size_t runs = intervals.size();
  const double seconds = union_length(std::move(intervals));
  if (seconds < kShortest) return std::nullopt;
  return TimeEstimate{seconds / static_cast<double>(runs), runs};
}

TimeEstimate time_by_running(const TrialPrograms& programs, const std::vector<const Trial*>& trials, int cores,
                             std::size_t at_once, double budget) {
  const TrainSpec& train = *programs.experiment().train;
  const auto rows = static_cast<std::ptrdiff_t>(std::min(trials.size(), at_once));
  Stopwatch stopwatch(programs, {trials.begin(), trials.begin() + rows}, cores);
  const double share = budget / static_cast<double>(1 + programs.evaluate().size());
  TimeEstimate estimate;
  if (train.steps > 0) {
    estimate.seconds_a_trial = static_cast<double>(train.steps) *
                               stopwatch.seconds_a_step(*programs.train(), programs.train_stream(), train.steps, share);
  }
  for (const EvaluateProgram& evaluate : programs.evaluate()) {
    const std::int64_t batches = (evaluate.sequences + evaluate.batch - 1) / evaluate.batch;
    estimate.seconds_a_trial += static_cast<double>(batches * evaluations(train)) *
                                stopwatch.seconds_a_step(*evaluate.program, evaluate.stream, batches, share);
  }
  return estimate;
}

}  // namespace jari
