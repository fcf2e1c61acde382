// jari ls, on folders as finished, failed, diverged, interrupted and killed trials leave them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "framework/report/listing.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/checkpoint.hpp"
#include "framework/store/journal.hpp"
#include "framework/store/run_directory.hpp"
#include "tests/support/files.hpp"
#include "tests/support/specs.hpp"
#include "tests/tools/run_jari.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;
using test::Output;
using test::run_jari;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Ls : public ::testing::Test {
 protected:
  // Four trials of a real sweep, the folders by label.
  void run_sweep() {
    const fs::path spec = folder_.path() / "spec.yaml";
    write_file_atomically(spec,
                          std::string(test::kSmallSpec) + "seeds: 2\nsweep: {grid: {model.position: [sin, rope]}}\n");
    const Output output = run_jari({"run", spec.string(), "--runs", runs_.string(), "--quiet"});
    ASSERT_EQ(output.status, 0) << output.err;
    for (const auto& entry : fs::directory_iterator(runs_ / "small")) {
      const std::string name = entry.path().filename().string();
      if (entry.is_directory()) trials_[name.substr(0, name.rfind('-'))] = entry.path();
    }
    ASSERT_EQ(trials_.size(), 4u);
  }

  // As SIGKILL leaves a trial at step 37 of 60: journal and checkpoint, no run file.
  void kill(const fs::path& trial) const {
    fs::remove(trial / kRunFile);
    fs::remove(trial / kJournalFile);
    JournalWriter journal(trial / kJournalFile);
    journal.event(JournalKind::start, 0, {{"trial", "abc"}, {"label", "position=sin,seed=42"}, {"steps", "60"}});
    journal.metrics(1, {{"train/loss", 2.5}});
    journal.metrics(30, {{"train/loss", 1.5}});
    Checkpoint checkpoint;
    checkpoint.step = 20;
    checkpoint.trial = "abc";
    checkpoint.numbers["seconds_train"] = 1.25;
    write_checkpoint(trial, checkpoint);
  }

  test::TemporaryFolder folder_;
  fs::path runs_ = folder_.path() / "runs";
  std::map<std::string, fs::path> trials_;
};

TEST_F(Ls, ShowsExperimentsWithWhatIsDone) {
  run_sweep();
  kill(trials_.at("position=sin,seed=42"));
  fs::remove_all(trials_.at("position=rope,seed=43"));
  const Output output = run_jari({"ls", runs_.string()});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out,
              ::testing::ContainsRegex("small +2/4 +1 interrupted, 1 waiting +20[0-9-]+ [0-9:]+ +[0-9.]+ [kM]B\n"));
}

TEST_F(Ls, ShowsTheTrialsOfOneExperimentInTheOrderOfTheSweep) {
  run_sweep();
  kill(trials_.at("position=sin,seed=42"));
  const Output output = run_jari({"ls", (runs_ / "small").string()});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, ::testing::ContainsRegex(
                              "position=sin,seed=42 +interrupted +20/60 +1.2 +train/loss +1.5\n"
                              "position=sin,seed=43 +finished +60/60 +0.[0-9] +evaluate/longer/accuracy +0.[0-9]+\n"
                              "position=rope,seed=42 +finished"));
  EXPECT_THAT(output.out, HasSubstr("\nsmall: 3 of 4 trials done, 1 interrupted; last write "));
  const Output loss = run_jari({"ls", (runs_ / "small").string(), "--metric", "evaluate/same/loss"});
  EXPECT_THAT(loss.out,
              ::testing::ContainsRegex("position=sin,seed=43 +finished +60/60 +0.[0-9] +evaluate/same/loss +"));
}

TEST_F(Ls, TellsLanguageModelsByTheirPerplexity) {
  run_sweep();
  const auto metric_with = [&](const MetricValues& values) {
    const fs::path trial = trials_.at("position=sin,seed=42");
    kill(trial);
    JournalWriter(trial / kJournalFile).metrics(40, values);
    return run_jari({"ls", (runs_ / "small").string()}).out;
  };
  EXPECT_THAT(metric_with({{"evaluate/t/perplexity", 3.5}, {"evaluate/t/accuracy", 0.25}}),
              ::testing::ContainsRegex("interrupted +20/60 +1.2 +evaluate/t/perplexity +3.5\n"));
  EXPECT_THAT(metric_with({{"evaluate/t/perplexity", 3.5}, {"evaluate/t/bits_per_character", 1.5}}),
              ::testing::ContainsRegex("interrupted +20/60 +1.2 +evaluate/t/bits_per_character +1.5\n"));
}

TEST_F(Ls, TellsWhyTrialsFailed) {
  run_sweep();
  const fs::path trial = trials_.at("position=sin,seed=42");
  fs::remove(trial / kRunFile);
  JournalWriter(trial / kJournalFile).event(JournalKind::failure, 60, {{"message", "No space left on device"}});
  const Output output = run_jari({"ls", (runs_ / "small").string()});
  EXPECT_THAT(output.out, ::testing::ContainsRegex("position=sin,seed=42 +failed +60/60"));
  EXPECT_EQ(output.err, "position=sin,seed=42: No space left on device\n");
}

TEST_F(Ls, KnowsWhichProcessTrainsByItsLock) {
  run_sweep();
  kill(trials_.at("position=sin,seed=42"));
  const RunLock lock(runs_ / "small");
  EXPECT_THAT(run_jari({"ls", runs_.string()}).out, HasSubstr("1 training"));
}

TEST_F(Ls, ReadsTheRunFileWhereTheJournalIsLost) {
  run_sweep();
  fs::remove(trials_.at("position=sin,seed=42") / kJournalFile);
  const fs::path other = trials_.at("position=sin,seed=43");
  fs::remove(other / kJournalFile);
  std::ofstream(other / kRunFile, std::ios::trunc) << "no HDF5";
  const ListedExperiment experiment = list_experiment(runs_ / "small");
  EXPECT_EQ(experiment.trials.at(0).status, "finished");
  EXPECT_EQ(experiment.trials.at(0).label, "position=sin,seed=42");
  EXPECT_EQ(experiment.trials.at(1).status, "damaged");
  EXPECT_THAT(experiment.trials.at(1).message, HasSubstr("it is not an HDF5 file"));
}

TEST_F(Ls, WritesCsvAndJsonWithEveryTrial) {
  run_sweep();
  kill(trials_.at("position=sin,seed=42"));
  const Output csv = run_jari({"ls", runs_.string(), "--format", "csv"});
  EXPECT_THAT(csv.out, StartsWith("experiment,trial,status,step,steps,seconds,metric,value,last_write,bytes,folder\n"
                                  "small,\"position=sin,seed=42\",interrupted,20,60,1.25,train/loss,1.5,20"));
  EXPECT_EQ(std::ranges::count(csv.out, '\n'), 5);
  const nlohmann::json json = nlohmann::json::parse(run_jari({"ls", runs_.string(), "--format", "json"}).out);
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0].at("experiment"), "small");
  EXPECT_EQ(json[0].at("declared"), 4);
  EXPECT_EQ(json[0].at("done"), 3);
  EXPECT_EQ(json[0].at("interrupted"), 1);
  EXPECT_EQ(json[0].at("trials")[0].at("metric").at("name"), "train/loss");
  EXPECT_EQ(json[0].at("trials")[3].at("status"), "finished");
}

TEST_F(Ls, ChangesNothing) {
  run_sweep();
  kill(trials_.at("position=sin,seed=42"));
  std::ofstream(trials_.at("position=sin,seed=43") / kJournalFile, std::ios::app) << "{\"torn";
  std::ofstream(runs_ / "small" / "sweep.yaml.99.tmp") << "left by a killed process";
  const auto snapshot = [&] {
    std::map<std::string, std::pair<std::string, fs::file_time_type>> files;
    for (const auto& entry : fs::recursive_directory_iterator(runs_)) {
      if (entry.is_regular_file()) files[entry.path()] = {test::read_text(entry.path()), entry.last_write_time()};
    }
    return files;
  };
  const auto before = snapshot();
  EXPECT_THAT(run_jari({"ls", (runs_ / "small").string()}).out, HasSubstr("position=sin,seed=43"));
  EXPECT_EQ(snapshot(), before);
}

TEST_F(Ls, SaysWhereItLooked) {
  const Output missing = run_jari({"ls", (folder_.path() / "nowhere").string()});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.err, fmt::format("error: {}: there is no such folder; `jari run` makes it, or name another\n",
                                     (folder_.path() / "nowhere").string()));
  const Output empty = run_jari({"ls", folder_.path().string()});
  EXPECT_EQ(empty.status, 0);
  EXPECT_EQ(empty.err, fmt::format("no experiments in {}\n", folder_.path().string()));
}

}  // namespace
}  // namespace jari
