#include "framework/sweep/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/store/checkpoint.hpp"
#include "framework/store/journal.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/sweep/launcher.hpp"
#include "framework/sweep/plan_time.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::sweep_of;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTwoPositions =
    std::string(kSmallSpec) + "seeds: 2\nsweep: {grid: {model.position: [sin, {type: rel, max_length: 12}]}}\n";

class Plan : public ::testing::Test {
 protected:
  PlanOptions options(bool estimate_time = false) const {
    return {.runs = folder_.path(), .cores = 2, .estimate_time = estimate_time};
  }

  void train(const std::string& yaml) const {
    auto parsed = sweep_of(yaml);
    LaunchOptions launch_options;
    launch_options.runs = folder_.path();
    launch_options.threads = 2;
    Progress silent;
    launch(parsed.sweep, parsed.spec, {}, launch_options, silent);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Plan, KnowsSizesBeforeAnythingIsTrained) {
  auto parsed = sweep_of(kTwoPositions);
  const SweepPlan plan = plan_sweep(parsed.sweep, options());
  EXPECT_EQ(plan.count(TrialProgress::fresh), 4u);
  ASSERT_EQ(plan.groups.size(), 2u);
  const PlannedGroup& sin = plan.groups[0];
  // Embedding 7 x 8, three 8 x 8 matrices, output 8 x 7 and its bias 7.
  EXPECT_EQ(sin.parameters, 7 * 8 + 3 * 8 * 8 + 8 * 7 + 7);
  EXPECT_GE(sin.state_bytes, 3u * 4u * static_cast<std::size_t>(sin.parameters)) << "Adam keeps two more numbers each";
  EXPECT_EQ(sin.missing_steps, 120);
  EXPECT_GT(plan.disk.at_end, 2.0 * 4.0 * static_cast<double>(sin.parameters + plan.groups[1].parameters));
  EXPECT_GT(plan.disk.while_training, plan.disk.at_end);
  EXPECT_FALSE(plan.seconds());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "small")) << "a plan writes nothing";
}

TEST_F(Plan, TellsWhichTrialsAreDoneInterruptedAndFailed) {
  train(std::string(kSmallSpec) + "seeds: 1\nsweep: {grid: {model.position: [sin, {type: rel, max_length: 12}]}}\n");
  auto parsed = sweep_of(kTwoPositions);
  const std::filesystem::path folder = folder_.path() / "small";
  const std::filesystem::path interrupted = folder / parsed.sweep.trials[1].folder,
                              failed = folder / parsed.sweep.trials[2].folder;
  std::filesystem::create_directories(interrupted);
  JournalWriter(interrupted / kJournalFile).event(JournalKind::start, 0);
  Checkpoint checkpoint;
  checkpoint.step = 40;
  checkpoint.trial = parsed.sweep.trials[1].hash;
  write_checkpoint(interrupted, checkpoint);
  std::filesystem::remove(failed / kRunFile);
  JournalWriter(failed / kJournalFile).event(JournalKind::failure, 20);

  const SweepPlan plan = plan_sweep(parsed.sweep, options());
  EXPECT_EQ(plan.trials[0].progress, TrialProgress::done);
  EXPECT_EQ(plan.trials[1].progress, TrialProgress::interrupted);
  EXPECT_EQ(plan.trials[1].step, 40);
  EXPECT_EQ(plan.trials[2].progress, TrialProgress::failed);
  EXPECT_EQ(plan.trials[3].progress, TrialProgress::fresh);
  EXPECT_EQ(plan.groups[0].missing_steps, 20);
  const std::string text = plan_text(parsed.sweep, plan);
  EXPECT_THAT(text, HasSubstr(parsed.sweep.trials[1].folder + "      0  interrupted at step 40\n"));
  EXPECT_THAT(text, HasSubstr("trials      4: 1 done, 1 interrupted, 1 failed, 1 new\n"));
  EXPECT_THAT(text, HasSubstr("to run      3 trials, 140 steps\n"));
}

TEST_F(Plan, SaysThatNothingIsMissing) {
  train(kTwoPositions);
  auto parsed = sweep_of(kTwoPositions);
  const SweepPlan plan = plan_sweep(parsed.sweep, options(true));
  EXPECT_EQ(plan.missing(), 0u);
  EXPECT_EQ(plan.memory_bytes(), 0);
  EXPECT_THAT(plan_text(parsed.sweep, plan), HasSubstr("to run      nothing\n"));
}

TEST_F(Plan, OfManyTrialsIsASummaryByAxis) {
  const std::string yaml =
      std::string(kSmallSpec) + "seeds: 15\nsweep: {grid: {train.optimizer.lr: [1e-2, 1e-3, 1e-4]}}\n";
  auto parsed = sweep_of(yaml);
  SweepPlan plan = plan_sweep(parsed.sweep, options());
  plan.trials[0].progress = TrialProgress::done;
  const std::string text = plan_text(parsed.sweep, plan);
  EXPECT_THAT(text, HasSubstr("train.optimizer.lr  1e-2             15     1            0       0   14\n"));
  EXPECT_THAT(text, HasSubstr("seed                (15 values)      45     1            0       0   44\n"));
  EXPECT_THAT(text, Not(HasSubstr(parsed.sweep.trials[1].folder)));
  EXPECT_THAT(plan_text(parsed.sweep, plan, /*all=*/true), HasSubstr(parsed.sweep.trials[44].folder));
}

TEST_F(Plan, OfOneTrialShowsItsParameters) {
  auto parsed = sweep_of(kSmallSpec);
  const SweepPlan plan = plan_sweep(parsed.sweep, options());
  EXPECT_THAT(plan_text(parsed.sweep, plan), HasSubstr("\nparameters  334 a trial\n"));
}

TEST_F(Plan, HasARowForEachTrialAsCsv) {
  auto parsed = sweep_of(kTwoPositions);
  const std::string csv = plan_csv(parsed.sweep, plan_sweep(parsed.sweep, options()));
  EXPECT_THAT(csv,
              ::testing::StartsWith("folder,group,model.position,seed,state,step,steps,parameters,state_bytes,seconds\n"
                                    "\"position=sin,seed=42-"));
  EXPECT_THAT(csv, HasSubstr("\",0,sin,42,new,0,60,311,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
}

TEST_F(Plan, EstimatesTimeByRunningAFewSteps) {
  auto parsed = sweep_of(kTwoPositions);
  const SweepPlan plan = plan_sweep(parsed.sweep, options(true));
  ASSERT_TRUE(plan.seconds());
  EXPECT_GT(*plan.seconds(), 0);
  EXPECT_EQ(plan.groups[0].time->finished_runs, 0u);
  EXPECT_THAT(plan_text(parsed.sweep, plan),
              HasSubstr("on 2 cores, without analyses (from a few steps of 2 groups, run now)\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "small"));
}

RunOutline outline(const std::string& created, double seconds) {
  RunOutline run;
  run.attributes.created = created;
  run.seconds_train = seconds;
  return run;
}

TEST(TimeFromRuns, CountsTheWallTimeThatRunsSharedOnce) {
  // Two side by side for 60 s, then two more for 60 s.
  const std::vector<RunOutline> runs{outline("2026-01-01T00:01:00Z", 60), outline("2026-01-01T00:01:00Z", 60),
                                     outline("2026-01-01T00:02:00Z", 60), outline("2026-01-01T00:02:00Z", 60)};
  const auto estimate = time_from_runs(runs, 2);
  ASSERT_TRUE(estimate);
  EXPECT_DOUBLE_EQ(estimate->seconds_a_trial, 30);
  EXPECT_EQ(estimate->finished_runs, 4u);
}

TEST(TimeFromRuns, NeedsARunForEachCoreAndSomeSeconds) {
  EXPECT_FALSE(time_from_runs({}, 1));
  EXPECT_FALSE(time_from_runs({outline("2026-01-01T00:01:00Z", 60)}, 2));
  EXPECT_FALSE(time_from_runs({outline("2026-01-01T00:01:00Z", 2)}, 1));
  EXPECT_FALSE(time_from_runs({outline("some day", 60)}, 1));
}

TEST(Against, TellsWhatIsAddedReusedAndDropped) {
  const std::string base = std::string(kSmallSpec) + "seeds: 2\n";
  const auto before = sweep_of(base + "sweep: {grid: {model.position: [sin, rope], model.width: [8, 16]}}\n");
  const auto after =
      sweep_of(base + "sweep: {grid: {model.position: [sin, {type: alibi, slopes: [1]}], model.width: [8, 16]}}\n");
  EXPECT_EQ(against_text(after.sweep, before.sweep, "old.yaml"),
            "against old.yaml: 4 added, 4 reused, 4 dropped\n"
            "added: the 4 with model.position=alibi\n"
            "reused: the 4 with model.position=sin\n"
            "dropped: the 4 with model.position=rope\n");
  EXPECT_EQ(against_text(before.sweep, before.sweep, "old.yaml"),
            "against old.yaml: 0 added, 8 reused, 0 dropped\nreused: all 8 trials\n");
}

TEST(Against, NamesTheValuesThatBringNewTrials) {
  const auto before = sweep_of(std::string(kSmallSpec) + "seeds: 2\nsweep: {grid: {model.width: [8, 16]}}\n");
  const auto after = sweep_of(std::string(kSmallSpec) + "seeds: 3\nsweep: {grid: {model.width: [8, 16, 32]}}\n");
  EXPECT_EQ(against_text(after.sweep, before.sweep, "old.yaml"),
            "against old.yaml: 5 added, 4 reused, 0 dropped\n"
            "added: those with model.width=32, and those with seed=44\n"
            "reused: the 4 with model.width=8 or 16, seed=42 or 43\n");
}

TEST(Against, ListsCombinationsThatNoAxisDescribes) {
  const std::string base = std::string(kSmallSpec) + "seeds: 3\n";
  const auto before =
      sweep_of(base + "sweep: {list: [{model.width: 8, train.batch: 2}, {model.width: 16, train.batch: 3}]}\n");
  const auto after = sweep_of(base + "sweep: {grid: {model.width: [8, 16], train.batch: [2, 3]}}\n");
  EXPECT_EQ(against_text(after.sweep, before.sweep, "old.yaml"),
            "against old.yaml: 6 added, 6 reused, 0 dropped\n"
            "added:\n"
            "  model.width=8, train.batch=3, 3 seeds\n"
            "  model.width=16, train.batch=2, 3 seeds\n"
            "reused:\n"
            "  model.width=8, train.batch=2, 3 seeds\n"
            "  model.width=16, train.batch=3, 3 seeds\n");
}

}  // namespace
}  // namespace jari
