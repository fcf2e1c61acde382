#include "framework/sweep/run_index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_folder.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

class RunIndex : public testing::Test {
 protected:
  RunIndex() {
    runs_.add("{type: sin}", 1, 0.25);
    runs_.add("{type: sin}", 2, 0.5);
  }
  std::vector<IndexedRun> index() const { return index_runs(files_, std::chrono::nanoseconds(0)); }
  std::optional<double> accuracy(std::size_t run) const {
    const auto indexed = index();
    return indexed[run].summary ? std::optional(indexed[run].summary->metrics.at(1).last) : std::nullopt;
  }
  // What only the cache says.
  void cache_other_value(const fs::path& file, double value) const {
    RunSummary summary = read_run_summary(file);
    summary.metrics[1].last = value;
    SummaryCache cache(runs_.path(), std::chrono::nanoseconds(0));
    cache.put(file.parent_path().filename() / "run.h5", *identify_file(file), summary);
    cache.save();
  }

  test::RunFolder runs_;
  std::vector<fs::path> files_ = {runs_.path() / "trial0" / "run.h5", runs_.path() / "trial1" / "run.h5"};
  fs::path cache_ = runs_.path() / kSummariesFile;
};

TEST_F(RunIndex, KeepsSummariesInAFolderThatASweepMade) {
  runs_.set_baseline("{}");
  EXPECT_EQ(accuracy(1), 0.5);
  EXPECT_TRUE(fs::exists(cache_));
  cache_other_value(files_[1], 0.75);
  EXPECT_EQ(accuracy(0), 0.25);
  EXPECT_EQ(accuracy(1), 0.75);
  EXPECT_EQ(index()[1].summary->path, files_[1]);
  fs::remove(cache_);
  EXPECT_EQ(accuracy(1), 0.5);
}

TEST_F(RunIndex, ReadsAFileAgainThatWasReplaced) {
  runs_.set_baseline("{}");
  index();
  write_run_file(files_[0], runs_.record("{type: sin}", 1, 0.125));
  EXPECT_EQ(accuracy(0), 0.125);
}

TEST_F(RunIndex, LeavesOtherFoldersAlone) {
  index();
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(RunIndex, TellsWhyThereIsNoSummary) {
  runs_.set_baseline("{}");
  write_file_atomically(files_[0], "x");
  files_.push_back(runs_.path() / "trial2" / "run.h5");
  const auto indexed = index();
  EXPECT_FALSE(indexed[0].summary);
  EXPECT_THAT(indexed[0].error, testing::StartsWith(files_[0].string() + ": can not read: it is not an HDF5 file"));
  EXPECT_EQ(indexed[1].error, "");
  EXPECT_THAT(indexed[2].error, testing::HasSubstr("No such file or directory"));
}

TEST_F(RunIndex, FindsFinishedTrials) {
  std::vector<Trial> trials(4);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].folder = "trial" + std::to_string(i);
    trials[i].hash = "trial" + std::to_string(i);
  }
  trials[1].hash = "another";
  runs_.add("{type: sin}", 3, 0.5);
  write_file_atomically(runs_.path() / "trial2" / "run.h5", "damaged");
  EXPECT_THAT(finished_trials(runs_.path(), trials), testing::ElementsAre(true, false, false, false));
}

}  // namespace
}  // namespace jari
