#include "framework/train/repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "framework/base/error.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/run_file.hpp"
#include "framework/sweep/launcher.hpp"
#include "framework/train/interrupt.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;
using ::testing::Contains;
using ::testing::HasSubstr;

class RepairTrial : public ::testing::Test {
 protected:
  RepairTrial() { register_builtin_plugins(registry_); }

  // Signals the trial to stop when it reaches a step.
  struct StopAt final : Progress {
    explicit StopAt(std::int64_t at) : step(at) {}
    void stepped(const Trial&, std::int64_t done, double) override {
      if (done == step) interrupt_signal = 2;
    }
    std::int64_t step;
  };
  void run(std::int64_t stop_at = -1) {
    ParsedSweep parsed = sweep_of(kSmallSpec);
    StopAt progress(stop_at);
    launch(parsed.sweep, parsed.spec, {}, {.runs = runs_.path(), .threads = 1, .force = false}, progress);
    interrupt_signal = 0;
    folder_ = runs_.path() / "small" / parsed.sweep.trials[0].folder;
  }
  RunRecord record() const { return read_run_file(folder_ / "run.h5"); }

  TemporaryFolder runs_;
  std::filesystem::path folder_;
  Registry registry_;
};

TEST_F(RepairTrial, AnInterruptedTrialGetsARunFileAndGoesOnAfterwards) {
  run(37);
  const RepairReport report = repair_trial(folder_, registry_);
  EXPECT_TRUE(report.made_run_file);
  EXPECT_THAT(report.notes, Contains("weights are those of checkpoint.h5 (step 37)"));
  const RunRecord made = record();
  EXPECT_EQ(made.attributes.status, "interrupted");
  EXPECT_EQ(made.weights.size(), record().weights.size());
  EXPECT_FALSE(made.weights.empty());
  EXPECT_EQ(made.metrics.front().steps, (std::vector<std::int64_t>{1, 10, 20, 30}));
  run();
  EXPECT_EQ(record().attributes.status, "finished");
  const TemporaryFolder other;
  ParsedSweep parsed = sweep_of(kSmallSpec);
  Progress silent;
  launch(parsed.sweep, parsed.spec, {}, {.runs = other.path(), .threads = 1, .force = false}, silent);
  const RunRecord undisturbed = read_run_file(other.path() / "small" / parsed.sweep.trials[0].folder / "run.h5");
  EXPECT_EQ(record().weights, undisturbed.weights);
  EXPECT_EQ(record().metrics, undisturbed.metrics);
}

TEST_F(RepairTrial, ALostRunFileIsRebuiltFromTheJournalWithoutWeights) {
  run();
  const RunRecord before = record();
  write_file_atomically(folder_ / "run.h5", "not HDF5");
  const RepairReport report = repair_trial(folder_, registry_);
  EXPECT_TRUE(report.made_run_file);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "run.h5.damaged"));
  const RunRecord made = record();
  EXPECT_EQ(made.attributes.status, "repaired");
  EXPECT_EQ(made.attributes.label, before.attributes.label);
  EXPECT_EQ(made.attributes.trial, before.attributes.trial);
  EXPECT_EQ(made.attributes.index, 0);
  EXPECT_EQ(made.metrics, before.metrics);
  EXPECT_EQ(made.spec_resolved, before.spec_resolved);
  EXPECT_TRUE(made.weights.empty());
  run();
  EXPECT_EQ(record().weights, before.weights) << "`jari run` has it back to the last bit";
}

TEST_F(RepairTrial, LeavesAWholeRunAlone) {
  run();
  const RepairReport report = repair_trial(folder_, registry_);
  EXPECT_FALSE(report.made_run_file);
  EXPECT_THAT(report.notes, ::testing::ElementsAre("run.h5 is whole (finished)"));
}

TEST_F(RepairTrial, ATornJournalKeepsWhatIsWhole) {
  run(37);
  {
    std::ofstream journal(folder_ / "journal.jsonl", std::ios::app);
    journal << "{\"kind\":\"metr";
  }
  const RepairReport report = repair_trial(folder_, registry_);
  EXPECT_THAT(report.notes, Contains(HasSubstr("line dropped: it is torn: it has no line end")));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "journal.jsonl.damaged"));
  EXPECT_TRUE(report.made_run_file);
}

TEST_F(RepairTrial, SaysThatAJournalTellsNothing) {
  run();
  write_file_atomically(folder_ / "run.h5", "not HDF5");
  write_file_atomically(folder_ / "journal.jsonl", "nothing\n");
  EXPECT_THAT(test::error_of<StoreError>([&] { repair_trial(folder_, registry_); }),
              HasSubstr("no line says which trial it is of"));
}

}  // namespace
}  // namespace jari
