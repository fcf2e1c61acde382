#include "framework/sweep/launcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "framework/base/error.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/run_file.hpp"
#include "framework/sweep/sweep_folder.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"

namespace jari {
namespace {

using test::kSmallSpec;
using test::ParsedSweep;
using test::sweep_of;
using test::TemporaryFolder;
using ::testing::HasSubstr;

LaunchResult run(ParsedSweep& parsed, const TemporaryFolder& runs, int threads = 2, bool force = false) {
  Progress silent;
  return launch(parsed.sweep, parsed.spec, {}, {.runs = runs.path(), .threads = threads, .force = force}, silent);
}

const std::string kTwoShapes = std::string(kSmallSpec) + "seeds: 3\nsweep: {grid: {model.position: [sin, rope]}}\n";

TEST(Launcher, RunsOnlyWhatIsMissing) {
  const TemporaryFolder runs;
  ParsedSweep first = sweep_of(kTwoShapes);
  EXPECT_EQ(run(first, runs).outcomes.size(), 6u);
  ParsedSweep again = sweep_of(kTwoShapes);
  const LaunchResult second = run(again, runs);
  EXPECT_EQ(second.outcomes.size(), 0u);
  EXPECT_EQ(second.already_done, 6u);
}

TEST(Launcher, ASpecMayGrow) {
  const TemporaryFolder runs;
  ParsedSweep small = sweep_of(kTwoShapes), grown = sweep_of(kTwoShapes, {"seeds=5"});
  run(small, runs);
  const LaunchResult result = run(grown, runs);
  EXPECT_EQ(result.already_done, 6u);
  EXPECT_EQ(result.outcomes.size(), 4u);
}

TEST(Launcher, ForceTrainsAgain) {
  const TemporaryFolder runs;
  ParsedSweep parsed = sweep_of(kSmallSpec), again = sweep_of(kSmallSpec);
  run(parsed, runs);
  EXPECT_EQ(run(again, runs, 2, /*force=*/true).outcomes.size(), 1u);
}

TEST(Launcher, ADamagedRunFileIsTrainedAgain) {
  const TemporaryFolder runs;
  ParsedSweep parsed = sweep_of(kSmallSpec), again = sweep_of(kSmallSpec);
  run(parsed, runs);
  const auto path = runs.path() / "small" / parsed.sweep.trials[0].folder / "run.h5";
  write_file_atomically(path, "not HDF5");
  EXPECT_EQ(run(again, runs).outcomes.size(), 1u);
  EXPECT_EQ(read_run_file(path).attributes.status, "finished");
}

TEST(Launcher, RefusesTheFolderOfAnotherSpecAndSaysWhatDiffers) {
  const TemporaryFolder runs;
  ParsedSweep parsed = sweep_of(kSmallSpec), other = sweep_of(kSmallSpec, {"train.steps=61"});
  run(parsed, runs);
  const std::string text = test::error_of<StoreError>([&] { run(other, runs); });
  EXPECT_THAT(text, HasSubstr("holds the runs of another spec: none of its 1 trials is among the 1 of this one"));
  EXPECT_THAT(text, HasSubstr("train.steps: 60 -> 61"));
  EXPECT_THAT(text, HasSubstr("give this spec another `experiment` name"));
}

TEST(Launcher, RefusesAFolderThatIsNotOurs) {
  const TemporaryFolder runs;
  std::filesystem::create_directories(runs.path() / "small");
  write_file_atomically(runs.path() / "small" / "thesis.txt", "precious");
  ParsedSweep parsed = sweep_of(kSmallSpec);
  EXPECT_THAT(test::error_of<StoreError>([&] { run(parsed, runs); }), HasSubstr("is not a folder of jari's"));
  EXPECT_EQ(test::read_text(runs.path() / "small" / "thesis.txt"), "precious");
}

TEST(Launcher, TheResultDoesNotDependOnTheNumberOfThreads) {
  std::vector<RunRecord> records;
  for (int threads : {1, 2, 5}) {
    const TemporaryFolder runs;
    ParsedSweep parsed = sweep_of(kTwoShapes);
    run(parsed, runs, threads);
    records.push_back(read_run_file(runs.path() / "small" / parsed.sweep.trials[4].folder / "run.h5"));
  }
  EXPECT_EQ(records[0].weights, records[1].weights);
  EXPECT_EQ(records[0].weights, records[2].weights);
  EXPECT_EQ(records[0].metrics, records[2].metrics);
}

TEST(Launcher, OneFailedTrialDoesNotStopTheOthers) {
  const TemporaryFolder runs;
  ParsedSweep parsed = sweep_of(kTwoShapes), again = sweep_of(kTwoShapes);
  const auto blocked = runs.path() / "small" / parsed.sweep.trials[1].folder;
  run(parsed, runs);
  std::filesystem::remove_all(blocked);
  write_file_atomically(blocked, "in the way");
  const LaunchResult result = run(again, runs);
  ASSERT_EQ(result.outcomes.size(), 1u);
  EXPECT_EQ(result.outcomes[0].status, "failed");
}

// A file where a trial's folder should be, which goes away when the trial has failed `times` times.
struct Blocked final : Progress {
  Blocked(std::filesystem::path file, int failures) : path(std::move(file)), times(failures) {
    std::filesystem::create_directories(path.parent_path());
    write_file_atomically(path, "in the way");
  }
  void ended(const Trial&, const std::string& status, const std::string&) override {
    if (status == "failed" && --times == 0) std::filesystem::remove(path);
  }
  std::filesystem::path path;
  int times;
};

std::map<std::string, int> statuses(const LaunchResult& result) {
  std::map<std::string, int> counts;
  for (const TrialOutcome& outcome : result.outcomes) ++counts[outcome.status];
  return counts;
}

LaunchResult run_blocked(const std::string& yaml, int times) {
  const TemporaryFolder runs;
  ParsedSweep parsed = sweep_of(yaml);
  std::filesystem::create_directories(runs.path() / "small");
  write_sweep_file(runs.path() / "small", parsed.sweep, parsed.spec, {});
  Blocked progress(runs.path() / "small" / parsed.sweep.trials[0].folder, times);
  return launch(parsed.sweep, parsed.spec, {}, {.runs = runs.path(), .threads = 1}, progress);
}

TEST(Launcher, AFailedTrialIsTriedAgain) {
  const std::string sweep = std::string(kSmallSpec) + "seeds: 3\nsweep: {retries: 2}\n";
  EXPECT_EQ(statuses(run_blocked(sweep, 2)), (std::map<std::string, int>{{"finished", 3}}));
  EXPECT_EQ(statuses(run_blocked(sweep, 3)), (std::map<std::string, int>{{"failed", 1}, {"finished", 2}}));
}

TEST(Launcher, StopsAtTheFirstFailureIfSoAsked) {
  // One core and nine trials a batch: those that train beside the failed one are saved, the others never start.
  const std::string sweep =
      std::string(kSmallSpec) + "seeds: 20\nsweep: {grid: {train.optimizer.lr: [1e-2]}, on_failure: stop}\n";
  const LaunchResult result = run_blocked(sweep, 100);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(statuses(result).at("failed"), 1);
  EXPECT_LT(result.outcomes.size(), 20u);
}

TEST(Launcher, ADivergedTrialStopsTheSweepToo) {
  const TemporaryFolder runs;
  ParsedSweep parsed = sweep_of(
      std::string(kSmallSpec) + "seeds: 9\nsweep: {grid: {train.optimizer.lr: [1e30, 1e-2]}, on_failure: stop}\n",
      {"train.optimizer.type=sgd"});
  const LaunchResult result = run(parsed, runs, 1);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.outcomes.size(), 8u) << "the first batch";
  ParsedSweep again =
      sweep_of(std::string(kSmallSpec) + "seeds: 9\nsweep: {grid: {train.optimizer.lr: [1e30, 1e-2]}}\n",
               {"train.optimizer.type=sgd"});
  const LaunchResult rest = run(again, runs, 1);
  EXPECT_EQ(rest.already_done, 8u);
  EXPECT_EQ(statuses(rest), (std::map<std::string, int>{{"diverged", 1}, {"finished", 9}}));
}

}  // namespace
}  // namespace jari
