// Word vectors trained from a corpus: what is promised of all training, and that rows may wait for their steps.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "framework/store/run_file.hpp"
#include "framework/train/trainer.hpp"
#include "framework/train/verify.hpp"
#include "tests/support/cache_home.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;

// A text of 300 words, some frequent, most rare, with neighbors that mean something: word n stands near n + 1.
class Words : public ::testing::Test {
 protected:
  Words() {
    std::ofstream text(corpus(), std::ios::binary);
    std::uint64_t state = 1;
    for (int line = 0; line < 400; ++line) {
      for (int i = 0; i < 12; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto draw = static_cast<double>(state >> 40) / 16777216.0;
        const int word = static_cast<int>(300 * draw * draw * draw);
        text << "w" << word << " w" << (word + 1) % 300 << " ";
      }
      text << "\n";
    }
  }

  std::filesystem::path corpus() const { return folder_.path() / "words.txt"; }

  std::string spec(const std::string& task, const std::string& model, const std::string& optimizer) const {
    return "experiment: words\nprecision: f64\ndata: {corpus: " + corpus().string() +
           ", tokenizer: words}\ntask: {type: context, window: 3, " + task + "}\nmodel: {type: " + model +
           ", width: 6}\ntrain: {steps: 400, batch: 16, optimizer: " + optimizer +
           ", checkpoint: {every: 90}, log_every: 50, evaluate_every: 150}\n"
           "evaluate: {drawn: {sequences: 200, batch: 50}}\n";
  }

  const TemporaryFolder folder_;
  const test::CacheHome cache_{folder_.path()};
};

const std::string kRandom = "negatives: {type: uniform, count: 3}";
const std::string kPass =
    "centers: pass, dynamic_window: true, subsample: 1e-2, negatives: {type: unigram, count: 8, share: batch, weight: "
    "3}, reduction: sum";

void train(Sweep& sweep, const std::vector<std::size_t>& trials, const TemporaryFolder& folder, int threads = 1,
           const TrainOptions& options = {}, Progress* progress = nullptr) {
  sweep.groups[0].programs->plan();
  std::vector<const Trial*> chosen;
  for (std::size_t i : trials) chosen.push_back(&sweep.trials[i]);
  ThreadPool pool(threads);
  Progress silent;
  for (const TrialOutcome& outcome :
       train_group(*sweep.groups[0].programs, chosen, folder.path(), {}, pool, progress ? *progress : silent, options))
    ASSERT_NE(outcome.status, "failed") << outcome.message;
}

RunRecord record_of(const Sweep& sweep, std::size_t trial, const TemporaryFolder& folder) {
  return read_run_file(folder.path() / sweep.trials[trial].folder / "run.h5");
}

const std::vector<double>& weights_of(const RunRecord& run, const std::string& name) {
  for (const RecordArray& array : run.weights) {
    if (array.name == name) return std::get<std::vector<double>>(array.values);
  }
  throw std::logic_error("no weights " + name);
}

bool has_op(const Graph& graph, const std::string& op) {
  for (int i = 0; i < graph.size(); ++i) {
    if (graph.node(i).op != nullptr && op == graph.node(i).op->name) return true;
  }
  return false;
}

// Dense steps and those that rows wait for, on the same batches.
void expect_equal_to_dense(const std::string& yaml, const std::string& row_op, double tolerance) {
  std::vector<RunRecord> runs;
  for (const bool rewrites : {true, false}) {
    SweepOptions options;
    options.rewrites = rewrites;
    ParsedSweep parsed = sweep_of(yaml, {}, options);
    EXPECT_EQ(has_op(parsed.sweep.groups[0].programs->train_graph(), row_op), rewrites);
    const TemporaryFolder folder;
    train(parsed.sweep, {0}, folder);
    runs.push_back(record_of(parsed.sweep, 0, folder));
  }
  for (const char* name : {"embedding", "output"}) {
    const std::vector<double>&rows = weights_of(runs[0], name), &dense = weights_of(runs[1], name);
    ASSERT_EQ(rows.size(), dense.size());
    double largest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      largest = std::max(largest, std::abs(rows[i] - dense[i]) / (1 + std::abs(dense[i])));
    EXPECT_LT(largest, tolerance) << name;
  }
  ASSERT_EQ(runs[0].metrics.size(), runs[1].metrics.size());
  for (std::size_t i = 0; i < runs[0].metrics.size(); ++i) {
    const MetricSeries &rows = runs[0].metrics[i], &dense = runs[1].metrics[i];
    ASSERT_EQ(rows.steps, dense.steps);
    for (std::size_t k = 0; k < rows.values.size(); ++k)
      EXPECT_NEAR(rows.values[k], dense.values[k], 10 * tolerance * (1 + std::abs(dense.values[k]))) << rows.name;
  }
}

TEST_F(Words, AdamOnRowsThatWaitEqualsDenseAdam) {
  expect_equal_to_dense(spec(kRandom, "skip_gram", "{type: adam, lr: 1e-2}"), "adam_update_rows", 1e-9);
  expect_equal_to_dense(spec(kPass, "skip_gram", "{type: adam, lr: 1e-2}"), "adam_update_rows", 1e-9);
  expect_equal_to_dense(spec(kRandom, "skip_gram", "{type: adam, lr: 1e-2, weight_decay: 0.1}"), "adam_update_rows",
                        1e-9);
}

TEST_F(Words, AdamWOnRowsThatWaitEqualsDenseAdamW) {
  expect_equal_to_dense(spec(kRandom, "skip_gram", "{type: adamw, lr: 1e-2, weight_decay: 0.1}"), "adam_update_rows",
                        1e-9);
}

TEST_F(Words, RowsThatWaitFollowTheScheduleAndTheClippingOfDenseSteps) {
  expect_equal_to_dense(spec(kRandom, "cbow", "{type: adam, lr: 2e-2}") +
                            "sweep: {list: [{train.schedule: {type: linear, warm_up: 40}, train.clip_norm: 0.01}]}\n",
                        "adam_update_rows", 1e-9);
}

TEST_F(Words, SgdOnRowsEqualsDenseSgd) {
  expect_equal_to_dense(spec(kPass, "skip_gram", "{type: sgd, lr: 0.02}"), "sgd_update_rows", 1e-12);
  expect_equal_to_dense(spec(kRandom, "cbow", "{type: sgd, lr: 0.5, weight_decay: 0.01}"), "sgd_update_rows", 1e-12);
}

void expect_equal_bits(const RunRecord& left, const RunRecord& right) {
  EXPECT_EQ(left.metrics, right.metrics);
  EXPECT_EQ(left.weights, right.weights);
  EXPECT_EQ(left.digests, right.digests);
}

TEST_F(Words, ATrialInAGroupEqualsTheTrialAloneAtAnyNumberOfThreads) {
  for (const std::string& task : {kRandom, kPass}) {
    ParsedSweep parsed = sweep_of(spec(task, "skip_gram", "{type: adam, lr: 1e-2}") +
                                  "seeds: 2\nsweep: {grid: {train.optimizer.lr: [1e-3, 1e-2]}}\n");
    ASSERT_EQ(parsed.sweep.groups.size(), 1u);
    std::vector<RunRecord> alone;
    for (std::size_t trial = 0; trial < 4; ++trial) {
      const TemporaryFolder folder;
      train(parsed.sweep, {trial}, folder);
      alone.push_back(record_of(parsed.sweep, trial, folder));
    }
    for (const int threads : {2, 8}) {
      const TemporaryFolder folder;
      train(parsed.sweep, {0, 1, 2, 3}, folder, threads);
      for (std::size_t trial = 0; trial < 4; ++trial)
        expect_equal_bits(record_of(parsed.sweep, trial, folder), alone[trial]);
    }
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

TEST_F(Words, ResumeToEqualBits) {
  ParsedSweep parsed = sweep_of(spec(kRandom, "skip_gram", "{type: adam, lr: 1e-2}"));
  const TemporaryFolder undisturbed;
  train(parsed.sweep, {0}, undisturbed);
  for (const std::int64_t step : {91, 200, 399}) {
    const TemporaryFolder folder;
    KilledAt killed(step);
    EXPECT_THROW(train(parsed.sweep, {0}, folder, 1, {}, &killed), std::logic_error);
    train(parsed.sweep, {0}, folder);
    expect_equal_bits(record_of(parsed.sweep, 0, folder), record_of(parsed.sweep, 0, undisturbed));
  }
}

// Adam moves weights by about `lr` a step: logits overflow after some, while rare words' rows still wait.
TEST_F(Words, ThatDivergeKeepTheSettledWeightsFromBeforeTheStep) {
  const std::string yaml = spec(kRandom, "skip_gram", "{type: adam, lr: 1e153}");
  ParsedSweep diverges = sweep_of(yaml);
  EXPECT_TRUE(has_op(diverges.sweep.groups[0].programs->train_graph(), "adam_update_rows"));
  const TemporaryFolder folder;
  train(diverges.sweep, {0}, folder);
  const RunRecord diverged = record_of(diverges.sweep, 0, folder);
  ASSERT_EQ(diverged.attributes.status, "diverged");
  const std::int64_t steps = diverged.metrics.front().steps.back() - 1;
  ASSERT_GT(steps, 10) << "rows are to have waited";
  ParsedSweep shorter = sweep_of(yaml, {"train.steps=" + std::to_string(steps)});
  const TemporaryFolder other;
  train(shorter.sweep, {0}, other);
  const RunRecord finished = record_of(shorter.sweep, 0, other);
  ASSERT_EQ(finished.attributes.status, "finished");
  EXPECT_EQ(diverged.weights, finished.weights);
}

TEST_F(Words, AreVerified) {
  ParsedSweep parsed = sweep_of(spec(kRandom, "skip_gram", "{type: adam, lr: 1e-2}"));
  const TemporaryFolder folder;
  train(parsed.sweep, {0}, folder);
  ThreadPool pool(1);
  const RunRecord run = record_of(parsed.sweep, 0, folder);
  const VerifyReport report = verify_run(run, parsed.sweep.trials[0], 150, {}, run.environment, pool);
  for (const Verification& check : report.checks) EXPECT_TRUE(check.passed) << check.what;
  EXPECT_GT(report.checks.size(), 4u);
}

TEST_F(Words, TheRunHoldsTheVocabulary) {
  ParsedSweep parsed = sweep_of(spec(kRandom, "skip_gram", "{type: adam, lr: 1e-2}"), {"train.steps=2"});
  const TemporaryFolder folder;
  train(parsed.sweep, {0}, folder);
  const RunRecord run = record_of(parsed.sweep, 0, folder);
  EXPECT_EQ(run.vocabulary_tokens.size(), weights_of(run, "embedding").size() / 6);
  EXPECT_EQ(run.vocabulary_tokens[0], "w1") << "the most frequent";
  EXPECT_EQ(run.vocabulary_counts.size(), run.vocabulary_tokens.size());
}

TEST_F(Words, EpochsAreCountedInSteps) {
  ParsedSweep parsed = sweep_of(
      "experiment: words\ndata: {corpus: " + corpus().string() + ", tokenizer: words}\ntask: {type: context, " + kPass +
      "}\nmodel: {type: skip_gram, width: 4}\ntrain: {epochs: 3, batch: 1000, optimizer: sgd}\n");
  EXPECT_EQ(parsed.sweep.trials[0].experiment.train->steps, 30) << "9600 words, 10 steps an epoch";
}

}  // namespace
}  // namespace jari
