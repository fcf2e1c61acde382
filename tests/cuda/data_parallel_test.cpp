// One trial on several devices (`train.data_parallel`), emulated: each rank is a thread, and their sums are taken in
// the order of the ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "framework/base/error.hpp"
#include "framework/store/run_file.hpp"
#include "framework/train/rank_steps.hpp"
#include "framework/train/trainer.hpp"
#include "framework/train/trial_inputs.hpp"
#include "tests/cuda/emulation/emulated_device.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;
using testing::HasSubstr;

// A probe and its batch of 8, whose gradients are clipped at nearly every step; `more` are keys of `train`.
std::string spec(const std::string& more, const std::string& top = "precision: f64\n") {
  return "experiment: small\ntask: {type: neighbor, vocabulary: 7, offset: 1}\n"
         "model: {type: probe, width: 8, position: {type: rel, max_length: 12}}\n"
         "train: {steps: 30, batch: 8, length: 6, clip_norm: 0.2, log_every: 10, checkpoint: {every: 10}, " +
         more + "}\nevaluate: {same: {length: 6, sequences: 10}}\n" + top;
}

const std::string kAdam = "optimizer: {type: adam, lr: 1e-2}";

std::vector<std::shared_ptr<Device>> devices(int count) {
  std::vector<std::shared_ptr<Device>> made;
  for (int i = 0; i < count; ++i) made.push_back(test::make_emulated_device());
  return made;
}

struct Trained {
  TrialOutcome outcome;
  RunRecord record;
};

// In `folder`, where an earlier call may have left a checkpoint.
Trained train(const std::string& text, int cards, const TemporaryFolder& folder, Progress& progress,
              const TrainOptions& options = {}) {
  ParsedSweep parsed = sweep_of(text);
  TrialPrograms& programs = *parsed.sweep.groups[0].programs;
  programs.plan(devices(cards));
  EXPECT_EQ(programs.ranks().size(), static_cast<std::size_t>(cards));
  ThreadPool pool(1);
  const Trial& trial = parsed.sweep.trials[0];
  Trained trained{train_group(programs, {&trial}, folder.path(), {}, pool, progress, options).front(), {}};
  trained.outcome.trial = nullptr;  // it goes with the sweep
  if (trained.outcome.status == "interrupted") return trained;
  trained.record = read_run_file(folder.path() / trial.folder / "run.h5");
  return trained;
}

Trained train(const std::string& text, int cards) {
  const TemporaryFolder folder;
  Progress silent;
  return train(text, cards, folder, silent);
}

void expect_near(const RunRecord& found, const RunRecord& expected, double tolerance) {
  ASSERT_EQ(found.metrics.size(), expected.metrics.size());
  for (std::size_t m = 0; m < found.metrics.size(); ++m) {
    const std::vector<double>&left = found.metrics[m].values, &right = expected.metrics[m].values;
    ASSERT_EQ(left.size(), right.size());
    for (std::size_t i = 0; i < left.size(); ++i)
      EXPECT_NEAR(left[i], right[i], tolerance * (1 + std::abs(right[i]))) << found.metrics[m].name << " " << i;
  }
}

TEST(DataParallel, EqualsOneDeviceThatTakesThePartsInTurn) {
  for (const int count : {2, 4}) {
    SCOPED_TRACE(count);
    const Trained together = train(spec(kAdam + ", data_parallel: " + std::to_string(count)), count);
    const Trained alone = train(spec(kAdam + ", accumulate: " + std::to_string(count)), 1);
    EXPECT_EQ(together.outcome.status, "finished") << together.outcome.message;
    EXPECT_EQ(alone.outcome.status, "finished") << alone.outcome.message;
    expect_near(together.record, alone.record, 1e-12);
  }
}

TEST(DataParallel, EqualsTheWholeBatchWithinRounding) {
  const Trained together = train(spec(kAdam + ", data_parallel: 2"), 2), whole = train(spec(kAdam), 1);
  expect_near(together.record, whole.record, 1e-9);
}

TEST(DataParallel, GivesTheSameBitsTwice) {
  const std::string text = spec(kAdam + ", data_parallel: 4", "precision: f32\n");
  const Trained first = train(text, 4), second = train(text, 4);
  EXPECT_EQ(first.record.metrics, second.record.metrics);
  EXPECT_EQ(first.record.weights, second.record.weights);
}

TEST(DataParallel, ADivergingStepEndsAllRanks) {
  const std::string diverges = "optimizer: {type: sgd, lr: 1e38}";
  const Trained together = train(spec(diverges + ", data_parallel: 4", "precision: f32\n"), 4);
  const Trained alone = train(spec(diverges + ", accumulate: 4", "precision: f32\n"), 1);
  EXPECT_EQ(together.outcome.status, "diverged");
  // What was not finite first is told of the first rank, for which it may have come with a sum.
  const auto what = [](const Trained& trained) {
    return trained.outcome.message.substr(0, trained.outcome.message.find("; first not finite"));
  };
  EXPECT_THAT(what(together), HasSubstr(" at step "));
  EXPECT_EQ(what(together), what(alone));
}

class StopsAt final : public Progress {
 public:
  explicit StopsAt(std::int64_t step) : step_(step) {}
  void stepped(const Trial&, std::int64_t step, double) override {
    if (step == step_) stop = true;
  }
  std::atomic<bool> stop{false};

 private:
  std::int64_t step_;
};

TEST(DataParallel, ResumesToTheSameBits) {
  const std::string text = spec(kAdam + ", data_parallel: 2");
  const Trained expected = train(text, 2);
  const TemporaryFolder folder;
  StopsAt progress(17);
  TrainOptions options;
  options.stop = &progress.stop;
  EXPECT_EQ(train(text, 2, folder, progress, options).outcome.status, "interrupted");
  progress.stop = false;
  const Trained resumed = train(text, 2, folder, progress, options);
  EXPECT_EQ(resumed.outcome.status, "finished");
  EXPECT_EQ(resumed.record.metrics, expected.record.metrics);
  EXPECT_EQ(resumed.record.weights, expected.record.weights);
}

// Steps of the first trial of a spec, by hand.
struct Steps {
  explicit Steps(const std::string& text, const std::vector<std::shared_ptr<Device>>& planned_for)
      : parsed(sweep_of(text)), programs(*parsed.sweep.groups[0].programs) {
    programs.plan(planned_for);
  }

  void run(const Program::Hooks& hooks) {
    State state = programs.make_state(1);
    initialize(state, 0, programs.declarations(), parsed.sweep.trials[0]);
    const int rows[] = {0};
    ThreadPool pool(1);
    RankSteps(programs).run(state, rows, 0, 10, hooks, pool);
  }

  ParsedSweep parsed;
  TrialPrograms& programs;
};

TEST(DataParallel, ARankThatFailsEndsTheOthers) {
  for (const int failing : {1, 5, 8, -1, -5, -8}) {  // of all feeds, whichever rank's it is; below 0: made ahead
    Steps steps(spec(kAdam + ", data_parallel: 2"), devices(2));
    const TrialInputs inputs(steps.parsed.sweep.trials[0], steps.programs);
    std::atomic<int> feeds{0};
    Program::Hooks hooks;
    hooks.feed = [&](int, std::int64_t step, const Tensors& tensors) {
      if (++feeds == std::abs(failing)) throw StoreError("the corpus is gone");
      inputs.fill_step(tensors, step);
    };
    hooks.feeds_ahead = failing < 0;
    EXPECT_EQ(test::error_of<StoreError>([&] { steps.run(hooks); }), "the corpus is gone");
    // Ranks that have given up do not wait for each other again.
    EXPECT_THAT(test::error_of<DeviceError>([&] { steps.run(hooks); }), HasSubstr("given up"));
  }
}

TEST(DataParallel, StopsWhereTheFirstRankWantsTo) {
  for (const bool ahead : {false, true}) {
    for (const bool fails : {false, true}) {
      SCOPED_TRACE(testing::Message() << ahead << fails);
      Steps steps(spec(kAdam + ", data_parallel: 4"), devices(4));
      const TrialInputs inputs(steps.parsed.sweep.trials[0], steps.programs);
      int fetched = 0;
      Program::Hooks hooks;
      hooks.feed = [&](int, std::int64_t step, const Tensors& tensors) { inputs.fill_step(tensors, step); };
      hooks.feeds_ahead = ahead;
      hooks.is_last = [&](int, std::int64_t step) { return !fails && step == 3; };
      hooks.fetch = [&](int, std::int64_t step, const Tensors&) {
        ++fetched;
        return !fails || step < 3;
      };
      steps.run(hooks);
      EXPECT_EQ(fetched, 4);
    }
  }
}

TEST(DataParallel, NeedsThatManyCards) {
  EXPECT_EQ(test::error_of<DeviceError>([] { Steps(spec(kAdam + ", data_parallel: 4"), devices(3)); }),
            "train.data_parallel: 4 takes that many cards, and there are 3");
  Steps host(spec(kAdam + ", data_parallel: 4"), {});
  EXPECT_EQ(test::error_of<DeviceError>([&] { host.run({}); }),
            "train.data_parallel: 4 takes that many cards, and this is planned for 1");
}

TEST(DataParallel, RefusesWhatCanNotBeCut) {
  const auto error = [](const std::string& text) { return test::error_of<SpecError>([&] { sweep_of(text); }); };
  EXPECT_THAT(error(spec(kAdam + ", data_parallel: 3")), HasSubstr("3 does not divide the batch of 8"));
  EXPECT_THAT(error(spec(kAdam + ", data_parallel: 2, accumulate: 2")),
              HasSubstr("does not go together with accumulate"));
  EXPECT_THAT(error(spec(kAdam + ", data_parallel: 2", "device: cpu\n")),
              HasSubstr("is for cards, and the spec says device: cpu"));
}

}  // namespace
}  // namespace jari
