#include "framework/train/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <stdexcept>

#include "framework/store/atomic_file.hpp"
#include "framework/store/run_file.hpp"
#include "framework/train/interrupt.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;
using ::testing::HasSubstr;

std::vector<TrialOutcome> train(Sweep& sweep, std::size_t group, const std::vector<std::size_t>& trials,
                                const TemporaryFolder& folder, int threads = 1, Progress* progress = nullptr) {
  sweep.groups[group].programs->plan();
  std::vector<const Trial*> chosen;
  for (std::size_t i : trials) chosen.push_back(&sweep.trials[i]);
  ThreadPool pool(threads);
  Progress silent;
  return train_group(*sweep.groups[group].programs, chosen, folder.path(), {}, pool, progress ? *progress : silent);
}

RunRecord record_of(const Sweep& sweep, std::size_t trial, const TemporaryFolder& folder) {
  return read_run_file(folder.path() / sweep.trials[trial].folder / "run.h5");
}

void expect_equal_results(const RunRecord& left, const RunRecord& right) {
  EXPECT_EQ(left.metrics, right.metrics);
  EXPECT_EQ(left.weights, right.weights);
  ASSERT_EQ(left.evaluate.size(), right.evaluate.size());
  for (std::size_t i = 0; i < left.evaluate.size(); ++i) {
    const auto& a = std::get<std::vector<double>>(left.evaluate[i].values);
    const auto& b = std::get<std::vector<double>>(right.evaluate[i].values);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_TRUE(a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])));
  }
}

double last_value(const RunRecord& record, const std::string& metric) {
  for (const MetricSeries& series : record.metrics) {
    if (series.name == metric) return series.values.back();
  }
  ADD_FAILURE() << "no metric " << metric;
  return 0;
}

// The promise of fusing: a trial in a group equals the trial alone, to the last bit, at any number of threads.
TEST(Trainer, ATrialInAGroupEqualsTheTrialAlone) {
  ParsedSweep parsed =
      sweep_of(std::string(kSmallSpec) + "seeds: 2\nsweep: {grid: {train.optimizer.lr: [1e-3, 1e-2]}}\n");
  ASSERT_EQ(parsed.sweep.trials.size(), 4u);
  ASSERT_EQ(parsed.sweep.groups.size(), 1u) << "learning rate and seed do not split a group";
  std::vector<RunRecord> alone;
  for (std::size_t trial = 0; trial < 4; ++trial) {
    const TemporaryFolder folder;
    train(parsed.sweep, 0, {trial}, folder);
    alone.push_back(record_of(parsed.sweep, trial, folder));
  }
  EXPECT_NE(alone[0].weights, alone[1].weights) << "seeds differ";
  EXPECT_NE(alone[0].weights, alone[2].weights) << "learning rates differ";
  for (int threads : {1, 2, 3, 8}) {  // 8: more threads than trials, so kernels are split
    const TemporaryFolder folder;
    train(parsed.sweep, 0, {0, 1, 2, 3}, folder, threads);
    for (std::size_t trial = 0; trial < 4; ++trial)
      expect_equal_results(record_of(parsed.sweep, trial, folder), alone[trial]);
  }
}

class KilledAt final : public Progress {
 public:
  explicit KilledAt(std::int64_t step) : step_(step) {}
  void stepped(const Trial&, std::int64_t step, double) override {
    if (step == step_) throw std::logic_error("killed");
  }

 private:
  std::int64_t step_;
};

TEST(Trainer, ResumesToEqualBits) {
  ParsedSweep parsed =
      sweep_of(std::string(kSmallSpec) + "seeds: 2\n", {"train.evaluate_every=15", "train.clip_norm=0.5"});
  const TemporaryFolder undisturbed;
  train(parsed.sweep, 0, {0, 1}, undisturbed);
  for (std::int64_t step : {3, 20, 21, 45, 59}) {
    const TemporaryFolder folder;
    KilledAt killed(step);
    EXPECT_THROW(train(parsed.sweep, 0, {0, 1}, folder, 1, &killed), std::logic_error);
    const auto outcomes = train(parsed.sweep, 0, {0, 1}, folder);
    for (const TrialOutcome& outcome : outcomes) EXPECT_EQ(outcome.status, "finished");
    for (std::size_t trial : {0u, 1u}) {
      expect_equal_results(record_of(parsed.sweep, trial, folder), record_of(parsed.sweep, trial, undisturbed));
    }
  }
}

class InterruptedAt final : public Progress {
 public:
  explicit InterruptedAt(std::int64_t step) : step_(step) {}
  ~InterruptedAt() override { interrupt_signal = 0; }
  void stepped(const Trial&, std::int64_t step, double) override {
    if (step == step_) interrupt_signal = 2;
  }

 private:
  std::int64_t step_;
};

TEST(Trainer, AnInterruptedGroupSavesAllItsTrialsAndGoesOnToEqualBits) {
  ParsedSweep parsed = sweep_of(std::string(kSmallSpec) + "seeds: 3\n");
  const TemporaryFolder undisturbed;
  train(parsed.sweep, 0, {0, 1, 2}, undisturbed);
  for (int threads : {1, 2}) {
    const TemporaryFolder folder;
    {
      InterruptedAt interrupt(33);
      for (const TrialOutcome& outcome : train(parsed.sweep, 0, {0, 1, 2}, folder, threads, &interrupt)) {
        EXPECT_EQ(outcome.status, "interrupted");
        EXPECT_TRUE(std::filesystem::exists(folder.path() / outcome.trial->folder / "checkpoint.h5"));
      }
    }
    train(parsed.sweep, 0, {0, 1, 2}, folder, threads);
    for (std::size_t trial : {0u, 1u, 2u}) {
      expect_equal_results(record_of(parsed.sweep, trial, folder), record_of(parsed.sweep, trial, undisturbed));
    }
  }
}

TEST(Trainer, LearnsTheTask) {
  ParsedSweep parsed = sweep_of(kSmallSpec, {"train.steps=400", "train.batch=16", "model.width=16"});
  const TemporaryFolder folder;
  train(parsed.sweep, 0, {0}, folder);
  const RunRecord record = record_of(parsed.sweep, 0, folder);
  EXPECT_GT(last_value(record, "evaluate/same/accuracy"), 0.95);
  EXPECT_LT(last_value(record, "train/loss"), 0.3);
  EXPECT_EQ(record.attributes.status, "finished");
}

TEST(Trainer, SplitsAccuracyIntoSeenAndNewPositions) {
  ParsedSweep parsed = sweep_of(kSmallSpec);
  const TemporaryFolder folder;
  train(parsed.sweep, 0, {0}, folder);
  const RunRecord record = record_of(parsed.sweep, 0, folder);
  const RecordArray* by_position = nullptr;
  for (const RecordArray& array : record.evaluate) {
    if (array.name == "longer/accuracy_by_position") by_position = &array;
  }
  ASSERT_NE(by_position, nullptr);
  const auto& accuracy = std::get<std::vector<double>>(by_position->values);
  ASSERT_EQ(accuracy.size(), 12u);
  EXPECT_TRUE(std::isnan(accuracy[11])) << "the last token has no right neighbor";
  double seen = 0, unseen = 0;
  for (std::size_t i = 0; i < 5; ++i) seen += accuracy[i] / 5;
  for (std::size_t i = 5; i < 11; ++i) unseen += accuracy[i] / 6;
  EXPECT_NEAR(last_value(record, "evaluate/longer/accuracy_seen"), seen, 1e-12);
  EXPECT_NEAR(last_value(record, "evaluate/longer/accuracy_new"), unseen, 1e-12);
  EXPECT_NEAR(last_value(record, "evaluate/longer/accuracy"), (5 * seen + 6 * unseen) / 11, 1e-12);
}

TEST(Trainer, ADivergedTrialEndsAloneAndIsNamed) {
  ParsedSweep parsed = sweep_of(std::string(kSmallSpec) + "sweep: {grid: {train.optimizer.lr: [1e-2, 1e30]}}\n",
                                {"train.optimizer.type=sgd"});
  const TemporaryFolder folder, alone;
  const auto outcomes = train(parsed.sweep, 0, {0, 1}, folder);
  EXPECT_EQ(outcomes[0].status, "finished");
  EXPECT_EQ(outcomes[1].status, "diverged");
  EXPECT_THAT(outcomes[1].message, HasSubstr(" at step "));
  EXPECT_EQ(record_of(parsed.sweep, 1, folder).attributes.status, "diverged");
  train(parsed.sweep, 0, {0}, alone);
  expect_equal_results(record_of(parsed.sweep, 0, folder), record_of(parsed.sweep, 0, alone));
}

TEST(Trainer, ATrialWhoseFolderCanNotBeMadeFailsAlone) {
  ParsedSweep parsed = sweep_of(std::string(kSmallSpec) + "seeds: 2\n");
  const TemporaryFolder folder;
  std::filesystem::path blocked = folder.path() / parsed.sweep.trials[0].folder;
  write_file_atomically(blocked, "a file where the folder should be");
  const auto outcomes = train(parsed.sweep, 0, {0, 1}, folder);
  EXPECT_EQ(outcomes[0].status, "failed");
  EXPECT_THAT(outcomes[0].message, HasSubstr("can not make the folder"));
  EXPECT_EQ(outcomes[1].status, "finished");
}

TEST(Trainer, StopsWhenTheMetricNoLongerImproves) {
  ParsedSweep parsed = sweep_of(kSmallSpec, {"train.evaluate_every=10", "train.optimizer.lr=1e-12", "train.steps=1000",
                                             "train.stop={metric: evaluate/same/loss, patience: 2, min_delta: 0.01}"});
  const TemporaryFolder folder;
  const auto outcomes = train(parsed.sweep, 0, {0}, folder);
  EXPECT_EQ(outcomes[0].status, "stopped");
  const RunRecord record = record_of(parsed.sweep, 0, folder);
  for (const MetricSeries& series : record.metrics) {
    if (series.name != "evaluate/same/loss") continue;
    EXPECT_EQ(series.steps, (std::vector<std::int64_t>{10, 20, 30}));
  }
}

TEST(Trainer, ClippingBoundsTheStep) {
  // Plain SGD with rate 1 moves the parameters by the clipped gradient.
  ParsedSweep parsed =
      sweep_of(kSmallSpec, {"train.optimizer={type: sgd, lr: 1}", "train.steps=1", "train.clip_norm=0.125"});
  const Trial& trial = parsed.sweep.trials[0];
  const TrialPrograms& programs = *parsed.sweep.groups[0].programs;
  State first = programs.make_state(1);
  initialize(first, 0, programs.declarations(), trial);
  const TemporaryFolder folder;
  train(parsed.sweep, 0, {0}, folder);
  const RunRecord record = record_of(parsed.sweep, 0, folder);
  ASSERT_GT(last_value(record, "train/gradient_norm"), 0.125) << "nothing to clip";
  double moved = 0;
  for (const RecordArray& weights : record.weights) {
    const auto& after = std::get<std::vector<float>>(weights.values);
    const std::vector<double> before = first.read(0, *first.find("model/" + weights.name));
    for (std::size_t i = 0; i < after.size(); ++i) moved += std::pow(static_cast<double>(after[i]) - before[i], 2);
  }
  EXPECT_NEAR(std::sqrt(moved), 0.125, 1e-5);
}

TEST(Trainer, RewritesChangeNothingButRounding) {
  for (const char* position : {"learned, max_length: 12", "sin", "rel, max_length: 12", "alibi", "rope"}) {
    const std::vector<std::string> overrides = {"precision=f64",
                                                std::string("model.position={type: ") + position + "}"};
    ParsedSweep with = sweep_of(kSmallSpec, overrides), without = sweep_of(kSmallSpec, overrides, {.rewrites = false});
    const TemporaryFolder left, right;
    train(with.sweep, 0, {0}, left);
    train(without.sweep, 0, {0}, right);
    EXPECT_LT(with.sweep.groups[0].programs->train()->report().arena_bytes,
              without.sweep.groups[0].programs->train()->report().arena_bytes);
    EXPECT_NEAR(last_value(record_of(with.sweep, 0, left), "train/loss"),
                last_value(record_of(without.sweep, 0, right), "train/loss"), 1e-9)
        << position;
  }
}

TEST(Trainer, AnAnalysisAloneNeedsNoTraining) {
  ParsedSweep parsed = sweep_of(
      "experiment: only\nanalyses: {property: {type: position_property, length: 64, width: 128, gaps: [1, 3, 10, "
      "30]}}\n");
  const TemporaryFolder folder;
  train(parsed.sweep, 0, {0}, folder);
  const RunRecord record = record_of(parsed.sweep, 0, folder);
  ASSERT_EQ(record.analyses.size(), 1u);
  std::map<std::string, double> numbers(record.analyses[0].numbers.begin(), record.analyses[0].numbers.end());
  // The table of the source document.
  EXPECT_NEAR(numbers.at("gap_1/mean"), 62.094, 5e-4);
  EXPECT_NEAR(numbers.at("gap_3/mean"), 52.186, 5e-4);
  EXPECT_NEAR(numbers.at("gap_10/mean"), 42.820, 5e-4);
  EXPECT_NEAR(numbers.at("gap_30/mean"), 36.244, 5e-4);
}

}  // namespace
}  // namespace jari
