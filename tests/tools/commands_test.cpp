// The program from its command line, on a small spec.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "framework/store/atomic_file.hpp"
#include "framework/store/run_file.hpp"
#include "tests/support/files.hpp"
#include "tests/support/small_language_model.hpp"
#include "tests/support/specs.hpp"
#include "tools/commands.hpp"
#include "tools/progress_board.hpp"

namespace jari {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Output {
  int status;
  std::string out, err;
};

class Commands : public ::testing::Test {
 protected:
  Commands() {
    write_file_atomically(spec_, std::string(test::kSmallSpec) +
                                     "seeds: 2\nsweep: {grid: {model.position: [sin, {type: rel, max_length: 12}]}}\n");
  }

  Output jari(const std::vector<std::string>& arguments) const {
    std::vector<const char*> argv = {"jari"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = run_program(static_cast<int>(argv.size()), argv.data());
    const std::string err = ::testing::internal::GetCapturedStderr();
    return {status, ::testing::internal::GetCapturedStdout(), err};
  }
  Output run(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"run", spec_.string(), "--runs", runs_.string(), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return jari(arguments);
  }

  test::TemporaryFolder folder_;
  std::filesystem::path spec_ = folder_.path() / "spec.yaml", runs_ = folder_.path() / "runs";
};

TEST_F(Commands, RunShowsATableAndASecondRunTrainsNothing) {
  const Output first = run();
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, StartsWith("small: 4 trials in 2 fused groups"));
  EXPECT_THAT(first.err, HasSubstr("4 trained in "));
  EXPECT_THAT(first.out, StartsWith("model.position  n"));
  const Output second = run();
  EXPECT_THAT(second.err, HasSubstr("0 trained in 0s, 4 already done, 0 failed"));
  EXPECT_EQ(second.out, first.out);
}

TEST_F(Commands, RunTellsLanguageModelsByTheirBitsPerCharacter) {
  const test::LanguageModelFolder folder;
  write_file_atomically(spec_, folder.spec("sin") + "evaluate: {all: {length: 16}}\n");
  const Output output = run({"task.held_out=0.5"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, ::testing::MatchesRegex("n +train/loss +evaluate/all/bits_per_character\n[^a-z]+"));
}

TEST_F(Commands, CompareWritesCsvWithARowACellAndMetric) {
  run();
  const Output output = jari({"compare", runs_.string(), "--format", "csv", "--metric", "train/loss"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, ::testing::MatchesRegex("model.position,metric,n,mean,sd,ci_low,ci_high,min,max,[a-z_,]+\n"
                                                  "sin,train/loss,2,[-.,e0-9]+\n"
                                                  "rel,train/loss,2,[-.,e0-9]+\n"));
}

TEST_F(Commands, CompareTestsAgainstABaselineInEveryFormat) {
  run();
  const auto compare = [&](const std::string& format) {
    return jari({"compare", runs_.string(), "--format", format, "--baseline", "model.position=sin", "--success",
                 "evaluate/longer/accuracy>=0.5", "--value", "best", "--interval", "bootstrap"});
  };
  EXPECT_THAT(compare("text").out, HasSubstr("against model.position=sin:"));
  EXPECT_THAT(compare("text").out, HasSubstr("too few seeds to tell: n=2, "));
  EXPECT_THAT(compare("csv").out, HasSubstr(",model.position=sin,2,"));
  EXPECT_THAT(compare("md").out, HasSubstr("Against model.position=sin:"));
  EXPECT_THAT(compare("latex").out, HasSubstr("\\bottomrule"));
  EXPECT_EQ(nlohmann::json::parse(compare("json").out)["baseline"], "model.position=sin");
  const Output wrong = jari({"compare", runs_.string(), "--baseline", "model.position=cos"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.err, "error: --baseline: no run has the model.position 'cos'; values: rel, sin\n");
}

TEST_F(Commands, DiffShowsTwoTrialsAndSaysWhichFileIsNone) {
  run();
  std::vector<std::string> trials;
  for (const auto& entry : std::filesystem::directory_iterator(runs_ / "small"))
    if (entry.is_directory()) trials.push_back(entry.path().string());
  ASSERT_EQ(trials.size(), 4u);
  const Output output = jari({"diff", trials[0], trials[1], "--weights"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, StartsWith("a: " + trials[0] + "\nb: " + trials[1] + "\n\nspec\n"));
  EXPECT_THAT(output.out, HasSubstr("\nweights (relative: "));
  const Output wrong = jari({"diff", trials[0], spec_.string()});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("it is not an HDF5 file"));
}

TEST_F(Commands, PlotWritesAScriptWithTheNumbersOfTheRuns) {
  run();
  const std::string script = (folder_.path() / "plot.gp").string();
  const Output output = jari({"plot", runs_.string(), "--what", "loss", "--title", "손실", "-o", script});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_EQ(output.out, script + "\n");
  EXPECT_THAT(test::read_text(script), HasSubstr("set label '손실' at "));
  EXPECT_THAT(test::read_text(script), HasSubstr("$seeds_1_2 << EOD\n1 "));
}

TEST_F(Commands, PlotSaysWhatIsWrongBeforeItReadsRuns) {
  const Output output = jari({"plot", (folder_.path() / "nowhere").string(), "-o", "plot.jpg"});
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.err,
            "error: -o plot.jpg: expected a file that ends in .svg, .png or .gp (gnuplot's script), found '.jpg'\n");
}

TEST_F(Commands, CompareWithoutRunsSaysWhatToDo) {
  const Output output = jari({"compare", (folder_.path() / "nowhere").string()});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, StartsWith("error: "));
}

TEST_F(Commands, AnOverrideIsAsStrictAsTheFile) {
  const Output output = run({"train.stepz=3"});
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.err,
            "override #1:1:7: error: train: unknown key 'stepz'\n"
            "    1 | train.stepz=3\n"
            "      |       ^^^^^ did you mean 'steps'?\n"
            "1 error; nothing was started.\n");
  EXPECT_FALSE(std::filesystem::exists(runs_));
}

TEST_F(Commands, AFailedTrialGivesStatusThree) {
  run();
  std::vector<std::filesystem::path> trials;
  for (const auto& entry : std::filesystem::directory_iterator(runs_ / "small")) {
    if (entry.is_directory()) trials.push_back(entry.path());
  }
  ASSERT_EQ(trials.size(), 4u);
  std::filesystem::remove_all(trials[0]);
  write_file_atomically(trials[0], "in the way");
  const Output output = run();
  EXPECT_EQ(output.status, 3);
  EXPECT_THAT(output.err, HasSubstr("0 trained in 0s, 3 already done, 1 failed"));
}

TEST_F(Commands, WhereAllTrialsFailTheReasonsAreTold) {
  const Output output = run({"train.optimizer={type: sgd, lr: 1e30}", "seeds=1"});
  EXPECT_EQ(output.status, 3);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("position=sin,seed=42: diverged: loss "));
  EXPECT_THAT(output.err, HasSubstr("0 trained in 0s, 0 already done, 2 failed"));
}

TEST_F(Commands, MissingAndUnreadableSpecsAreSaidSo) {
  const Output missing = jari({"check", (folder_.path() / "missing.yaml").string()});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("there is no such file"));
  const Output directory = jari({"check", folder_.path().string()});
  EXPECT_EQ(directory.status, 2);
  EXPECT_THAT(directory.err, HasSubstr("it is a folder, and a spec is a file"));
}

TEST_F(Commands, ConfigShowsAllKeysAndBindsAgain) {
  const Output full = jari({"config", spec_.string(), "--trial", "3"});
  EXPECT_THAT(full.out, HasSubstr("log_every: 10"));
  EXPECT_THAT(full.out, HasSubstr("beta1: 0.9"));
  EXPECT_THAT(full.out, HasSubstr("seed: 43"));
  const std::filesystem::path again = folder_.path() / "again.yaml";
  write_file_atomically(again, full.out);
  EXPECT_EQ(jari({"config", again.string()}).out, full.out);
  const Output minimal = jari({"config", spec_.string(), "--minimal"});
  EXPECT_THAT(minimal.out, ::testing::Not(HasSubstr("beta1")));
  write_file_atomically(again, minimal.out);
  EXPECT_EQ(jari({"config", again.string()}).out, jari({"config", spec_.string()}).out);
}

TEST_F(Commands, ConfigTellsWhereAValueCameFrom) {
  EXPECT_EQ(jari({"config", spec_.string(), "train.batch=8", "--why", "train.batch"}).out,
            "train.batch: 8\n  override #1:1:13\n    train.batch=8\n");
  EXPECT_EQ(jari({"config", spec_.string(), "--why", "precision"}).out, "precision: f32\n  the default\n");
  EXPECT_THAT(jari({"config", spec_.string(), "--why", "model.position.type"}).out,
              HasSubstr("from sweep axis 'model.position'"));
  EXPECT_EQ(jari({"config", spec_.string(), "--why", "train.bath"}).err,
            "error: no key 'train.bath' in the resolved spec; did you mean 'train.batch'?\n");
}

TEST_F(Commands, ComponentsAreListedAndShown) {
  EXPECT_THAT(jari({"components"}).out, HasSubstr("position\n"));
  EXPECT_THAT(jari({"components", "position"}).out, HasSubstr("alibi"));
  EXPECT_THAT(jari({"components", "position/rel"}).out, HasSubstr("max_length"));
  const Output unknown = jari({"components", "position/rell"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.err,
            "error: unknown position 'rell' (did you mean 'rel'?); known: alibi, learned, none, rel, rope, sin, t5\n");
}

TEST_F(Commands, TheSchemaIsJsonAndKnowsTheComponents) {
  const Output output = jari({"schema"});
  const nlohmann::json schema = nlohmann::json::parse(output.out);
  EXPECT_EQ(schema.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema.at("additionalProperties"), false);
  EXPECT_THAT(output.out, HasSubstr("\"rope\""));
}

TEST_F(Commands, TheScriptOfTheManualReadsARealRun) {
  if (std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") != 0) GTEST_SKIP() << "no python3-h5py";
  run();
  std::filesystem::path record;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(runs_)) {
    if (entry.path().filename() == "run.h5") record = entry.path();
  }
  const std::string manual = test::read_text(test::source_path("docs/run_file_format.md"));
  const std::string fence = "```python\n";
  const std::size_t begin = manual.find(fence) + fence.size();
  const std::filesystem::path script = folder_.path() / "read.py", out = folder_.path() / "out.txt";
  write_file_atomically(script, manual.substr(begin, manual.find("```", begin) - begin));
  EXPECT_EQ(
      std::system(("/usr/bin/python3 " + script.string() + " '" + record.string() + "' > " + out.string()).c_str()), 0);
  EXPECT_THAT(test::read_text(out), HasSubstr("weights embedding (7, 8) float32 ['token', 'width']\n"));
}

TEST(ProgressBoard, WritesALineAnIntervalWithoutATerminal) {
  const auto parsed = test::sweep_of(std::string(test::kSmallSpec) + "seeds: 2\n");
  std::FILE* file = std::tmpfile();
  {
    ProgressBoard board(parsed.sweep, file, /*terminal=*/false, /*interval=*/0.02);
    board.already_done(parsed.sweep.trials[1]);
    const Trial& trial = parsed.sweep.trials[0];
    board.started(trial, 0);
    board.stepped(trial, 1, 0.5);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    board.ended(trial, "diverged", "loss nan at step 2");
  }
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  EXPECT_THAT(text, HasSubstr("1/2 trials done, 1 training, "));
  EXPECT_THAT(text, HasSubstr(" steps/s, mean loss 0.5, "));
  EXPECT_THAT(text, HasSubstr("seed=42: diverged: loss nan at step 2\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\x1b"))) << "no escape sequences outside a terminal";
}

TEST_F(Commands, VerifyComparesTheBitsAndFailsWhenTheyDiffer) {
  run();
  std::vector<std::string> trials;
  for (const auto& entry : std::filesystem::directory_iterator(runs_ / "small"))
    if (entry.is_directory()) trials.push_back(entry.path().string());
  ASSERT_EQ(trials.size(), 4u);
  const Output good = jari({"verify", trials[0], trials[1] + "/run.h5"});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_THAT(good.out,
              ::testing::ContainsRegex(
                  ": verified: 60 steps trained again, ([0-9]+) of ([0-9]+) comparisons equal to the last bit"));
  RunRecord record = read_run_file(std::filesystem::path(trials[0]) / "run.h5");
  record.digests[1].second = "0000000000000000";
  write_run_file(std::filesystem::path(trials[0]) / "run.h5", record);
  const Output bad = jari({"verify", trials[0]});
  EXPECT_EQ(bad.status, 3);
  EXPECT_THAT(bad.out, HasSubstr(": NOT VERIFIED: 60 steps trained again"));
  EXPECT_THAT(bad.out, HasSubstr("digest of the state at step 10  0000000000000000"));
  EXPECT_EQ(jari({"verify", trials[0], "--steps", "0"}).err, "error: --steps 0: expected 1 or more\n");
}

TEST_F(Commands, RepairTellsWhatItFoundAndDid) {
  run();
  const Output whole = jari({"repair", (runs_ / "small").string()});
  EXPECT_EQ(whole.status, 0);
  EXPECT_THAT(whole.out, HasSubstr("  run.h5 is whole (finished)\n"));
  for (const auto& entry : std::filesystem::directory_iterator(runs_ / "small"))
    if (entry.is_directory()) write_file_atomically(entry.path() / "run.h5", "damaged");
  const Output repaired = jari({"repair", (runs_ / "small").string()});
  EXPECT_EQ(repaired.status, 0) << repaired.out;
  EXPECT_THAT(repaired.out, HasSubstr("run.h5 was made: status repaired, "));
  EXPECT_EQ(jari({"compare", runs_.string()}).status, 0) << "repaired runs are compared";
  EXPECT_THAT(run().err, HasSubstr("4 trained")) << "and trained again when there is time";
  EXPECT_THAT(jari({"repair", folder_.path().string()}).err, HasSubstr("holds no trial"));
}

TEST_F(Commands, RunProfilesAndDumps) {
  const Output output = run({"--profile", "--check-nan", "--dump", "model/embedding@2,optimizer*@2"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("profile of position=sin,seed=42 and 1 more: 120 steps, "));
  EXPECT_THAT(output.out, HasSubstr("adam_update"));
  int dumps = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(runs_))
    dumps += entry.path().filename() == "dump-step-2.h5" ? 1 : 0;
  EXPECT_EQ(dumps, 4);
  EXPECT_THAT(run({"--dump", "nothing@2", "--force"}).err, HasSubstr("--dump nothing@2: no node or parameter"));
}

}  // namespace
}  // namespace jari
