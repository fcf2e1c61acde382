#include "framework/report/run_difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "framework/base/error.hpp"
#include "framework/store/atomic_file.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunRecord run_a() {
  RunRecord record;
  record.attributes.device = "cpu";
  record.attributes.threads = 2;
  record.spec_resolved = "seed: 42\nmodel:\n  width: 8\n  position: {type: learned, max_length: 12}\n";
  record.metrics = {{"train/loss", {10, 20}, {2, 1}}, {"evaluate/longer/accuracy", {10, 20}, {0.75, 0.5}}};
  record.analyses = {{"property", {}, {{"gap_1/mean", 0.5}}, ""}};
  record.environment = {{"hdf5", "1.10.8"}};
  record.weights = {{"embedding/token", {2, 2}, std::vector<float>{3, 0, 0, 4}, {"token", "width"}},
                    {"position/table", {2, 1}, std::vector<float>{1, 2}, {}},
                    {"scale", {}, std::vector<double>{0}, {}}};
  return record;
}

RunRecord run_b() {
  RunRecord record = run_a();
  record.attributes.threads = 4;
  record.spec_resolved = "seed: 42\nmodel:\n  width: 8\n  position: {type: rel, unseen: clamp}\n";
  record.metrics[0].values = {2, 0.5};
  record.metrics.pop_back();
  record.metrics.push_back({"train/gradient_norm", {20}, {3}});
  record.analyses[0].numbers[0].second = 0.25;
  record.environment.emplace_back("onednn", "2.6");
  record.weights = {{"embedding/token", {2, 2}, std::vector<float>{3, 0, 0, -4}, {"token", "width"}},
                    {"position/table", {3, 1}, std::vector<float>{1, 2, 3}, {}},
                    {"scale", {}, std::vector<double>{2}, {}},
                    {"head/bias", {1}, std::vector<float>{1}, {}}};
  return record;
}

TEST(RunDifference, OfARunAndItselfIsNone) {
  const RunDifference difference = difference_of(run_a(), run_a(), true);
  EXPECT_THAT(difference.spec, IsEmpty());
  EXPECT_THAT(difference.environment, IsEmpty());
  for (const WeightDifference& weight : *difference.weights) EXPECT_EQ(weight.distance->euclidean, 0);
  EXPECT_DOUBLE_EQ(*difference.weights->front().distance->cosine, 1);
}

TEST(RunDifference, NamesWhatTheSpecsAndMachinesDifferIn) {
  const RunDifference difference = difference_of(run_a(), run_b(), false);
  EXPECT_THAT(difference.spec, ElementsAre(TextDifference{"model.position.type", "learned", "rel"},
                                           TextDifference{"model.position.max_length", "12", std::nullopt},
                                           TextDifference{"model.position.unseen", std::nullopt, "clamp"}));
  EXPECT_THAT(difference.environment,
              ElementsAre(TextDifference{"threads", "2", "4"}, TextDifference{"onednn", std::nullopt, "2.6"}));
  EXPECT_FALSE(difference.weights);
}

TEST(RunDifference, PutsMetricsAndNumbersSideBySide) {
  const RunDifference difference = difference_of(run_a(), run_b(), false);
  ASSERT_EQ(difference.metrics.size(), 3u);
  EXPECT_EQ(difference.metrics[0].a->last, 1);
  EXPECT_EQ(difference.metrics[0].b->last, 0.5);
  EXPECT_EQ(difference.metrics[1].a->best, 0.75);
  EXPECT_FALSE(difference.metrics[1].b);
  EXPECT_FALSE(difference.metrics[2].a);
  EXPECT_EQ(difference.numbers.at(0).name, "property/gap_1/mean");
  EXPECT_EQ(difference.numbers.at(0).b, 0.25);
}

TEST(RunDifference, MeasuresWeights) {
  const auto weights = *difference_of(run_a(), run_b(), true).weights;
  ASSERT_EQ(weights.size(), 4u);
  EXPECT_EQ(weights[0].distance->euclidean, 8);
  EXPECT_EQ(weights[0].distance->relative, 8 / 5.0);
  EXPECT_DOUBLE_EQ(*weights[0].distance->cosine, (9 - 16) / 25.0);
  EXPECT_EQ(weights[0].distance->largest, 8);
  EXPECT_FALSE(weights[1].distance);  // other shapes
  EXPECT_EQ(weights[2].distance->euclidean, 2);
  EXPECT_FALSE(weights[2].distance->relative || weights[2].distance->cosine);  // a is 0
  EXPECT_TRUE(weights[3].in_b && !weights[3].in_a);
}

TEST(RunDifference, DoesNotHideANaN) {
  RunRecord b = run_a();
  std::get<std::vector<float>>(b.weights[0].values)[1] = std::nanf("");
  const auto weights = *difference_of(run_a(), b, true).weights;
  EXPECT_TRUE(std::isnan(weights[0].distance->euclidean));
  EXPECT_TRUE(std::isnan(weights[0].distance->largest));
}

TEST(RunDifference, IsShownInTables) {
  RunDifference difference = difference_of(run_a(), run_b(), true);
  difference.name_a = "runs/x/a";
  difference.name_b = "runs/x/b";
  EXPECT_EQ(difference_text(difference),
            "a: runs/x/a\n"
            "b: runs/x/b\n"
            "\n"
            "spec\n"
            "\n"
            "key                        a        b\n"
            "-------------------------  -------  -----\n"
            "model.position.type        learned  rel\n"
            "model.position.max_length  12       -\n"
            "model.position.unseen      -        clamp\n"
            "\n"
            "metrics (best: at its step)\n"
            "\n"
            "metric                    last a  last b  b - a      best a     best b  b - a\n"
            "------------------------  ------  ------  -----  ----------  ---------  -----\n"
            "train/loss                     1     0.5   -0.5     1 at 20  0.5 at 20   -0.5\n"
            "evaluate/longer/accuracy     0.5       -      -  0.75 at 10          -      -\n"
            "train/gradient_norm            -       3      -           -    3 at 20      -\n"
            "\n"
            "analyses\n"
            "\n"
            "analysis               a     b  b - a\n"
            "-------------------  ---  ----  -----\n"
            "property/gap_1/mean  0.5  0.25  -0.25\n"
            "\n"
            "environment\n"
            "\n"
            "what     a  b\n"
            "-------  -  ---\n"
            "threads  2  4\n"
            "onednn   -  2.6\n"
            "\n"
            "weights (relative: |a - b| / |a|; largest: of one number)\n"
            "\n"
            "parameter        shape              |a - b|  relative     cosine  largest\n"
            "---------------  -----------------  -------  --------  ---------  -------\n"
            "embedding/token  [2, 2]                   8       1.6  -0.280000        8\n"
            "position/table   [2, 1] and [3, 1]        -         -          -        -\n"
            "scale            []                       2         -          -        2\n"
            "head/bias        absent and [1]           -         -          -        -\n");
}

TEST(RunDifference, TakesRunFilesAndTrialFolders) {
  const test::TemporaryFolder folder;
  const fs::path trial = folder.path() / "trial", file = trial / "run.h5";
  const auto error_of = [&](const fs::path& path) {
    return test::error_of<StoreError>([&] { difference_of(file, path, false); });
  };
  fs::create_directory(trial);
  write_run_file(file, run_a());
  EXPECT_EQ(difference_of(file, trial, false).name_b, trial.string());
  EXPECT_EQ(error_of(folder.path() / "none"), (folder.path() / "none").string() + ": there is no such file or folder");
  EXPECT_EQ(error_of(folder.path()), folder.path().string() +
                                         ": there is no run.h5 in this folder; give the folder of one trial "
                                         "(runs/<experiment>/<trial>), or a run file");
  fs::create_directory(folder.path() / "unfinished");
  write_file_atomically(folder.path() / "unfinished" / "journal.jsonl", "");
  EXPECT_EQ(
      error_of(folder.path() / "unfinished"),
      (folder.path() / "unfinished").string() + ": this trial is not finished: it has no run.h5; 'jari run' its spec");
  write_file_atomically(folder.path() / "text", "x");
  EXPECT_THAT(error_of(folder.path() / "text"), HasSubstr("it is not an HDF5 file"));
}

}  // namespace
}  // namespace jari
