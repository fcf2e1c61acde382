#include "framework/store/run_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "framework/base/error.hpp"
#include "framework/store/hdf5_file.hpp"
#include "tests/store/example_run.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::ElementsAre;
using testing::Pair;

class RunFile : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "run.h5";
};

TEST_F(RunFile, GivesBackTheWholeRecord) {
  write_run_file(path_, test::example_run());
  EXPECT_TRUE(read_run_file(path_) == test::example_run());
}

TEST_F(RunFile, MayBeAlmostEmpty) {
  write_run_file(path_, RunRecord{});
  EXPECT_TRUE(read_run_file(path_) == RunRecord{});
}

TEST_F(RunFile, IsSummarizedByMetricsAndNumbersInOrder) {
  write_run_file(path_, test::example_run());
  const RunSummary summary = read_run_summary(path_);
  EXPECT_EQ(summary.path, path_);
  EXPECT_EQ(summary.attributes, test::example_run().attributes);
  EXPECT_EQ(summary.spec_resolved, test::example_run().spec_resolved);
  EXPECT_THAT(summary.metrics, ElementsAre(MetricSummary{"train/loss", 0.25, 0.25, 3.5, 500},
                                           MetricSummary{"evaluate/extrapolated/accuracy", 0.875, 0.875, 0.875, 500}));
  EXPECT_THAT(summary.numbers,
              ElementsAre(Pair("analyses/property/gap_1/mean", 0.5), Pair("analyses/property/gap_10/mean", 0.25),
                          Pair("analyses/property/gap_3/mean", 0.125)));
}

TEST_F(RunFile, IsReadInParts) {
  const RunRecord record = test::example_run();
  write_run_file(path_, record);
  const RunReader run(path_);
  EXPECT_EQ(run.metric("train/loss"), record.metrics[0]);
  EXPECT_EQ(run.metric("train"), std::nullopt) << "a group of metrics is none";
  EXPECT_EQ(run.metric("train/lost"), std::nullopt);
  EXPECT_EQ(run.array("evaluate/extrapolated/accuracy_by_position"), record.evaluate[0]);
  EXPECT_EQ(run.array("weights/embedding/token"), record.weights[0]);
  EXPECT_EQ(run.array("weights/embedding"), std::nullopt);
  EXPECT_EQ(run.array("weights"), std::nullopt);
  EXPECT_THAT(run.arrays("weights"), ElementsAre("embedding/token", "scale"));
  EXPECT_THAT(run.arrays("nothing"), testing::IsEmpty());
  EXPECT_THAT(run.analyses(), ElementsAre("property", "neighbors", "other"));
  EXPECT_EQ(run.skipped("other"), "the model has no position");
  EXPECT_EQ(run.skipped("property"), "");
}

TEST_F(RunFile, KeepsLargeSeeds) {
  RunRecord record;
  record.attributes.seed = ~std::uint64_t{0};
  write_run_file(path_, record);
  EXPECT_EQ(read_run_summary(path_).attributes.seed, ~std::uint64_t{0});
}

TEST_F(RunFile, WhoseMetricLacksStepsHasNoSummary) {
  Hdf5File file = Hdf5File::create(path_);
  file.set_attribute("", "format", std::string("jari-run"));
  for (const char* name : {"experiment", "trial", "label", "status", "jari_version", "git", "created", "device"})
    file.set_attribute("", name, std::string("x"));
  for (const char* name : {"version", "index", "seed", "threads"}) file.set_attribute("", name, std::int64_t{1});
  file.write_text("spec/resolved", "seed: 1\n");
  file.write("metrics/train/loss/step", {1}, std::vector<std::int64_t>{1});
  file.write("metrics/train/loss/value", {2}, std::vector<double>{0.5, 0.25});
  file.save();
  EXPECT_EQ(test::error_of<StoreError>([&] { read_run_summary(path_); }),
            path_.string() +
                ": /metrics/train/loss: 1 steps, but 2 values; remove the file and run again, or rebuild it with 'jari "
                "repair'");
}

TEST_F(RunFile, OfANewerVersionIsRefused) {
  Hdf5File file = Hdf5File::create(path_);
  file.set_attribute("", "format", std::string("jari-run"));
  file.set_attribute("", "version", std::int64_t{2});
  file.set_attribute("", "jari_version", std::string("3.1"));
  file.save();
  const std::string expected = path_.string() +
                               ": run file version 2 is newer than this jari, which reads up to 1; use the jari that "
                               "wrote it (3.1), or a newer one";
  EXPECT_EQ(test::error_of<StoreError>([&] { read_run_file(path_); }), expected);
  EXPECT_EQ(test::error_of<StoreError>([&] { read_run_summary(path_); }), expected);
}

TEST_F(RunFile, OfAnotherProgramIsRefused) {
  Hdf5File::create(path_).save();
  EXPECT_EQ(test::error_of<StoreError>([&] { read_run_file(path_); }),
            path_.string() +
                ": is an HDF5 file, but no run of jari (its attribute 'format' is not 'jari-run'); correct "
                "the path");
}

TEST_F(RunFile, WithAMissingMemberNamesIt) {
  Hdf5File file = Hdf5File::create(path_);
  file.set_attribute("", "format", std::string("jari-run"));
  file.set_attribute("", "version", std::int64_t{1});
  file.save();
  EXPECT_EQ(test::error_of<StoreError>([&] { read_run_file(path_); }),
            path_.string() +
                ": /: can not read the attribute 'experiment': it is missing; if the file is damaged, "
                "remove it and run again, or rebuild it with 'jari repair'");
}

TEST_F(RunFile, NeedsANameForEachAxisOrNone) {
  RunRecord record;
  record.weights = {{"embedding/token", {1, 1}, std::vector<float>{1}, {"token"}}};
  EXPECT_EQ(test::error_of<StoreError>([&] { write_run_file(path_, record); }),
            path_.string() + ": /weights/embedding/token: 1 axes are named, but it has 2; name each axis once");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(RunFile, ThatCanNotBeWrittenLeavesTheOldOneAlone) {
  write_run_file(path_, test::example_run());
  RunRecord wrong = test::example_run();
  wrong.metrics[0].values.pop_back();
  EXPECT_EQ(test::error_of<StoreError>([&] { write_run_file(path_, wrong); }),
            path_.string() + ": /metrics/train/loss/value: 2 values do not fill the shape [3], which needs 3");
  EXPECT_TRUE(read_run_file(path_) == test::example_run());
}

}  // namespace
}  // namespace jari
