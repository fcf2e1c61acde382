#include "framework/report/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "framework/base/error.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class Compare : public testing::Test {
 protected:
  // A run whose spec is `position` (one line of YAML) and what else stands in `keys`.
  RunRecord record(const std::string& position, int seed, double accuracy, const std::string& keys = "") {
    RunRecord result;
    result.attributes.experiment = "extrapolate";
    result.attributes.trial = "trial" + std::to_string(next_);
    result.attributes.index = next_;
    result.attributes.seed = static_cast<std::uint64_t>(seed);
    result.spec_resolved = "experiment: extrapolate\nseed: " + std::to_string(seed) +
                           "\nmodel:\n  type: probe\n  width: 128\n  position: " + position + "\n" + keys;
    result.metrics = {{"train/loss", {1, 2}, {9, 1 - accuracy}}, {"evaluate/extrapolated/accuracy", {2}, {accuracy}}};
    result.analyses = {{"property", {}, {{"gap_1/mean", accuracy * 2}}, ""}};
    return result;
  }
  void write(const RunRecord& run) {
    const auto folder = runs_ / ("trial" + std::to_string(next_++));
    std::filesystem::create_directories(folder);
    write_run_file(folder / kRunFile, run);
  }
  void add(const std::string& position, int seed, double accuracy, const std::string& keys = "") {
    write(record(position, seed, accuracy, keys));
  }
  Comparison compare(const CompareOptions& options = {}) const { return compare_runs({runs_}, options); }
  std::vector<std::vector<std::string>> keys_of(const Comparison& comparison) const {
    std::vector<std::vector<std::string>> keys;
    for (const ComparisonCell& cell : comparison.cells) keys.push_back(cell.keys);
    return keys;
  }

  std::vector<std::string> names_of(const Comparison& comparison) const {
    std::vector<std::string> names;
    for (const ComparedMetric& metric : comparison.metrics) names.push_back(metric.name());
    return names;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path runs_ = folder_.path() / "extrapolate";
  int next_ = 0;
};

TEST_F(Compare, GroupsOverSeedsByTheKeyThatVaries) {
  add("{type: sin}", 1, 0.5);
  add("{type: sin}", 2, 0.75);
  add("{type: learned, max_length: 40}", 1, 0.25);
  add("{type: learned, max_length: 40}", 2, 0.25);
  const Comparison comparison = compare();
  EXPECT_THAT(comparison.columns, ElementsAre("model.position"));
  EXPECT_THAT(names_of(comparison),
              ElementsAre("train/loss", "evaluate/extrapolated/accuracy", "analyses/property/gap_1/mean"));
  EXPECT_THAT(keys_of(comparison), ElementsAre(ElementsAre("sin"), ElementsAre("learned")));
  EXPECT_EQ(comparison.cells[0].metrics[1]->statistics.mean, 0.625);
  EXPECT_EQ(comparison.cells[0].metrics[1]->statistics.count, 2);
  EXPECT_EQ(comparison.cells[1].metrics[2]->statistics.mean, 0.5);
  EXPECT_THAT(comparison.notes, IsEmpty());
}

TEST_F(Compare, TellsBlocksOfOneTypeApart) {
  add("{type: rel, max_length: 40, unseen: clamp}", 1, 0.5);
  add("{type: rel, max_length: 40, unseen: zero}", 1, 0.5);
  add("{type: sin}", 1, 0.5);
  const Comparison comparison = compare();
  EXPECT_THAT(comparison.columns, ElementsAre("model.position"));
  EXPECT_THAT(keys_of(comparison),
              ElementsAre(ElementsAre("rel (unseen=clamp)"), ElementsAre("rel (unseen=zero)"), ElementsAre("sin")));
}

TEST_F(Compare, NamesASingleKeyOfABlockByItsOwnPath) {
  add("{type: rel, max_length: 20}", 1, 0.5);
  add("{type: rel, max_length: 40}", 1, 0.5);
  const Comparison comparison = compare();
  EXPECT_THAT(comparison.columns, ElementsAre("model.position.max_length"));
  EXPECT_THAT(keys_of(comparison), ElementsAre(ElementsAre("20"), ElementsAre("40")));
}

TEST_F(Compare, TakesAnInterpolatedKeyForNoKeyOfItsOwn) {
  for (const char* length : {"20", "40"})
    add("{type: sin}", 1, 0.5,
        std::string("train: {length: ") + length + "}\nevaluate:\n  trained: {length: " + length + "}\n");
  EXPECT_THAT(compare().columns, ElementsAre("train.length"));
  EXPECT_THAT(compare({{"evaluate.trained.length"}, {}}).columns, ElementsAre("evaluate.trained.length"));
}

TEST_F(Compare, IsInTheOrderOfTheSweepWhateverTheFoldersAreCalled) {
  next_ = 9;  // "trial9" sorts behind "trial10"
  add("{type: sin}", 1, 0.5);
  add("{type: rel}", 1, 0.5);
  add("{type: alibi}", 1, 0.5);
  EXPECT_THAT(keys_of(compare()), ElementsAre(ElementsAre("sin"), ElementsAre("rel"), ElementsAre("alibi")));
}

TEST_F(Compare, PoolsOverKeysThatAreNotAskedFor) {
  for (const char* rate : {"0.1", "0.2"})
    for (const char* type : {"{type: sin}", "{type: rel}"})
      for (const int seed : {1, 2}) add(type, seed, 0.5, std::string("train: {lr: ") + rate + "}\n");
  EXPECT_THAT(compare().cells, SizeIs(4));
  const Comparison comparison = compare({{"train.lr"}, {"train/loss"}});
  EXPECT_THAT(comparison.columns, ElementsAre("train.lr"));
  EXPECT_THAT(keys_of(comparison), ElementsAre(ElementsAre("0.1"), ElementsAre("0.2")));
  EXPECT_EQ(comparison.cells[0].metrics[0]->statistics.count, 4);
}

TEST_F(Compare, ShowsTheExperimentIfItVaries) {
  add("{type: sin}", 1, 0.5);
  RunRecord other = record("{type: sin}", 1, 0.75);
  other.attributes.experiment = "trained";
  write(other);
  const Comparison comparison = compare();
  EXPECT_THAT(comparison.columns, ElementsAre("experiment"));
  EXPECT_THAT(keys_of(comparison), ElementsAre(ElementsAre("extrapolate"), ElementsAre("trained")));
}

TEST_F(Compare, NotesTrialsThatAreNotFinished) {
  add("{type: sin}", 1, 0.5);
  RunRecord diverged = record("{type: sin}", 2, 0);
  diverged.attributes.status = "diverged";
  write(diverged);
  std::filesystem::create_directories(runs_ / "position=sin,seed=3-3fa9c1");
  std::ofstream(runs_ / "position=sin,seed=3-3fa9c1" / kJournalFile) << "";
  const Comparison comparison = compare();
  EXPECT_THAT(
      comparison.notes,
      ElementsAre("2 of 3 trials are not finished: position=sin,seed=3-3fa9c1 (no run file), trial1 (diverged)"));
  EXPECT_EQ(comparison.cells.at(0).metrics.at(0)->statistics.count, 1);
}

TEST_F(Compare, CountsACopyOfARunOnce) {
  add("{type: sin}", 1, 0.5);
  std::filesystem::create_directory(runs_ / "zcopy");
  std::filesystem::copy_file(runs_ / "trial0" / kRunFile, runs_ / "zcopy" / kRunFile);
  const Comparison comparison = compare_runs({runs_ / "trial0", runs_, runs_ / "trial0" / kRunFile});
  EXPECT_EQ(comparison.cells.at(0).metrics.at(0)->statistics.count, 1);
  EXPECT_THAT(comparison.notes,
              ElementsAre("copies of other runs are left out: " + (runs_ / "zcopy" / kRunFile).string()));
}

TEST_F(Compare, LeavesADamagedRunOutAndSaysSo) {
  add("{type: sin}", 1, 0.5);
  std::filesystem::create_directory(runs_ / "bad");
  std::ofstream(runs_ / "bad" / kRunFile) << "x";
  EXPECT_THAT(compare().notes, ElementsAre(testing::StartsWith("left out: " + (runs_ / "bad" / kRunFile).string() +
                                                               ": can not read: it is not an HDF5 file")));
}

TEST_F(Compare, NeedsARun) {
  std::filesystem::create_directories(runs_);
  EXPECT_EQ(test::error_of<StoreError>([&] { compare(); }),
            runs_.string() +
                ": there is no finished run in or below it; give the folder of an experiment "
                "(runs/<experiment>), or run its spec first");
  EXPECT_EQ(test::error_of<StoreError>([&] { compare_runs({runs_ / "other"}); }),
            (runs_ / "other").string() + ": there is no such file or folder");
}

TEST_F(Compare, KnowsTheKeysAndMetricsThatThereAre) {
  add("{type: sin}", 1, 0.5);
  add("{type: rel}", 1, 0.5);
  EXPECT_EQ(test::error_of<SpecError>([&] {
              compare({{"model.positon"}, {}});
            }),
            "--by: no run has the key 'model.positon'; did you mean 'model.position'? keys that vary: model.position");
  EXPECT_EQ(test::error_of<SpecError>([&] {
              compare({{}, {"train/los"}});
            }),
            "--metric: no run has the metric 'train/los'; did you mean 'train/loss'? metrics: train/loss, "
            "evaluate/extrapolated/accuracy, analyses/property/gap_1/mean");
}

TEST_F(Compare, ShowsAnAlignedTable) {
  add("{type: sin}", 1, 0.5);
  add("{type: sin}", 2, 0.75);
  add("{type: rel}", 1, 1);
  EXPECT_EQ(comparison_text(compare({{}, {"train/loss", "evaluate/extrapolated/accuracy"}})),
            "model.position  n   train/loss  evaluate/extrapolated/accuracy\n"
            "--------------  -  -----------  ------------------------------\n"
            "sin             2  0.375 ± 1.6                62.50 ± 158.83 %\n"
            "rel             1            0                        100.00 %\n"
            "\n±: half of the 95 % confidence interval of the mean (Student's t over the n trials)\n");
}

TEST_F(Compare, PutsMetricsThatDoNotFitIntoTablesBelow) {
  RunRecord run = record("{type: sin}", 1, 0.5);
  run.metrics = {{std::string(60, 'a'), {1}, {1}}, {std::string(60, 'b'), {1}, {2}}};
  run.analyses.clear();
  write(run);
  EXPECT_EQ(comparison_text(compare()), "n  " + std::string(60, 'a') + "\n-  " + std::string(60, '-') + "\n1  " +
                                            std::string(59, ' ') + "1\n\nn  " + std::string(60, 'b') + "\n-  " +
                                            std::string(60, '-') + "\n1  " + std::string(59, ' ') + "2\n");
}

TEST_F(Compare, TakesASeedThatStandsElsewhereForNoKey) {
  for (const int seed : {1, 2, 3}) add("{type: sin}", seed, 0.5, "init: {seed: " + std::to_string(seed) + "}\n");
  EXPECT_THAT(compare().columns, IsEmpty());
  EXPECT_THAT(keys_of(compare({{"seed"}, {}})), ElementsAre(ElementsAre("1"), ElementsAre("2"), ElementsAre("3")));
}

TEST_F(Compare, WritesCsv) {
  // Student's t for one degree of freedom is Cauchy's: the interval is 0.625 -/+ tan(0.475 pi) / 8.
  add("{type: rel, unseen: clamp, sides: both}", 1, 0.5);
  add("{type: rel, unseen: clamp, sides: both}", 2, 0.75);
  add("{type: rel, unseen: zero, sides: one}", 1, 1);
  add("{type: sin}", 1, 0);
  CompareOptions options;
  options.metrics = {"evaluate/extrapolated/accuracy"};
  options.baseline = {"model.position=sin"};
  EXPECT_EQ(comparison_csv(compare(options)),
            "model.position,metric,n,mean,sd,ci_low,ci_high,min,max,bootstrap_low,bootstrap_high,baseline,pairs,"
            "difference,difference_low,difference_high,p,p_holm,verdict,pairs_needed\n"
            "\"rel (unseen=clamp, sides=both)\",evaluate/extrapolated/accuracy,2,0.625,0.1767766952966369,"
            "-0.9632755920218368,2.2132755920218368,0.5,0.75,,,model.position=sin,1,0.5,,,1,1,too_few_seeds,\n"
            "\"rel (unseen=zero, sides=one)\",evaluate/extrapolated/accuracy,1,1,,,,1,1,,,model.position=sin,1,1,,,1,1,"
            "too_few_seeds,\n"
            "sin,evaluate/extrapolated/accuracy,1,0,,,,0,0,,,,,,,,,,,\n");
}

}  // namespace
}  // namespace jari
