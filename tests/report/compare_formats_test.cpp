// The whole texts of a small comparison.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/report/compare.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_folder.hpp"

namespace jari {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class CompareFormats : public testing::Test {
 protected:
  void add_sweep(int seeds) {
    for (int seed = 1; seed <= seeds; ++seed) {
      runs_.add("{type: learned}", seed, 0.5 + seed / 64.0);
      runs_.add("{type: rel}", seed, 0.75 + seed / 64.0 + (seed % 2) / 128.0);
    }
  }
  Comparison compare(CompareOptions options = {}) const {
    if (options.baseline.empty()) options.baseline = {"model.position=learned"};
    return compare_runs({runs_.path()}, options);
  }

  test::RunFolder runs_;
};

TEST_F(CompareFormats, TextHasTheTestsBelowTheMeans) {
  add_sweep(3);
  EXPECT_EQ(comparison_text(compare()),
            "model.position  n       train/loss  evaluate/longer/accuracy\n"
            "--------------  -  ---------------  ------------------------\n"
            "learned         3  0.46875 ± 0.039            53.12 ± 3.88 %\n"
            "rel             3   0.21354 ± 0.04            78.65 ± 4.04 %\n"
            "\n"
            "against model.position=learned:\n"
            "\n"
            "model.position  n       difference  p (Holm)  verdict\n"
            "--------------  -  ---------------  --------  ------------------------------------------\n"
            "train/loss\n"
            "rel             3   -0.255 ± 0.011    0.2500  too few seeds to tell: n=3, about 6 needed\n"
            "evaluate/longer/accuracy\n"
            "rel             3  +25.52 ± 1.12 %    0.2500  too few seeds to tell: n=3, about 6 needed\n"
            "\n"
            "±: half of the 95 % confidence interval of the mean (Student's t over the n trials)\n"
            "p: two-sided sign-flip test of the differences, seed by seed, exact; by Holm over the 1 comparison of a "
            "metric\n");
}

TEST_F(CompareFormats, MarkdownEscapes) {
  runs_.add("{type: 'a|b'}", 1, 0.5);
  runs_.add("{type: learned}", 1, 0.25);
  CompareOptions options;
  options.metrics = {"evaluate/longer/accuracy"};
  EXPECT_EQ(
      comparison_markdown(compare(options)),
      "| model.position | n | evaluate/longer/accuracy |\n"
      "| --- | ---: | ---: |\n"
      "| a\\|b | 1 | 50.00 % |\n"
      "| learned | 1 | 25.00 % |\n"
      "\n"
      "Against model.position=learned:\n"
      "\n"
      "| metric | model.position | n | difference | p (Holm) | verdict |\n"
      "| --- | --- | ---: | ---: | ---: | ---: |\n"
      "| evaluate/longer/accuracy | a\\|b | 1 | +25.00 % | 1.0000 | too few seeds to tell: n=1, at least 6 needed |\n"
      "\n"
      "- p: two-sided sign-flip test of the differences, seed by seed, exact; by Holm over the 1 comparison of a "
      "metric\n");
}

TEST_F(CompareFormats, LatexEscapesAndMarksWhatDiffers) {
  add_sweep(7);
  RunRecord odd = runs_.record("{type: 'x_1%'}", 1, 0.999995);
  runs_.write(odd);
  const std::string text = comparison_latex(compare());
  EXPECT_THAT(text, HasSubstr("\\begin{tabular}{lrrr}\n\\toprule\nmodel.position & $n$ & train/loss & "
                              "evaluate/longer/accuracy \\\\\n\\midrule\n"));
  EXPECT_THAT(text, HasSubstr("learned & 7 & $0.4375 \\pm 0.031$ & $56.25 \\pm 3.12$\\,\\% \\\\\n"));
  EXPECT_THAT(text, HasSubstr("$^{*}$ \\\\\n"));
  EXPECT_THAT(text,
              HasSubstr("x\\_1\\% & 1 & $5 \\times 10^{-6}$ & $100.00$\\,\\% \\\\\n\\bottomrule\n\\end{tabular}\n"));
  EXPECT_THAT(text, HasSubstr("% *: differs from model.position=learned, p at most 0.05 by Holm\n"));
}

TEST_F(CompareFormats, JsonHasEveryNumber) {
  add_sweep(8);
  CompareOptions options;
  options.bootstrap = true;
  const auto json = nlohmann::json::parse(comparison_json(compare(options)));
  EXPECT_EQ(json["columns"], nlohmann::json({"model.position"}));
  EXPECT_EQ(json["baseline"], "model.position=learned");
  const auto& cell = json["cells"][1];
  EXPECT_EQ(cell["keys"]["model.position"], "rel");
  EXPECT_EQ(cell["is_baseline"], false);
  const auto& metric = cell["metrics"]["evaluate/longer/accuracy"];
  EXPECT_EQ(metric["n"], 8);
  EXPECT_EQ(metric["seeds"], nlohmann::json({1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(metric["values"][1], 0.75 + 2 / 64.0);
  EXPECT_EQ(metric["interval_kind"], "student_t");
  EXPECT_LT(metric["bootstrap_interval"][0], metric["mean"]);
  EXPECT_EQ(metric["against_baseline"]["p"], std::ldexp(1.0, -7));
  EXPECT_EQ(metric["against_baseline"]["verdict"], "differs");
  EXPECT_EQ(metric["against_baseline"]["exact"], true);
}

TEST_F(CompareFormats, JsonSaysNullForNaN) {
  runs_.add("{type: learned}", 1, std::nan(""));
  runs_.add("{type: learned}", 2, 0.5);
  runs_.add("{type: sin}", 1, 0.5);
  const auto json = nlohmann::json::parse(comparison_json(compare()));
  EXPECT_TRUE(json["cells"][0]["metrics"]["train/loss"]["mean"].is_null());
}

TEST_F(CompareFormats, BootstrapIntervalsStartAtEightSeeds) {
  add_sweep(7);
  CompareOptions options;
  options.bootstrap = true;
  EXPECT_THAT(comparison_text(compare(options)), Not(HasSubstr("BCa")));
  runs_.add("{type: learned}", 8, 0.6);
  const std::string text = comparison_text(compare(options));
  EXPECT_THAT(text, HasSubstr("\n[ ]: 95 % confidence interval of the mean (bootstrap, BCa)\n"));
  EXPECT_THAT(text, ContainsRegex("learned +8 .*\\[.*\\] %\n"));
  EXPECT_THAT(text, ContainsRegex("rel +7 .* ± .*\n"));
}

TEST_F(CompareFormats, SuccessesHaveWilsonsInterval) {
  add_sweep(4);
  CompareOptions options;
  options.success = {"evaluate/longer/accuracy>=0.5625", "train/loss<=0.24"};
  const std::string text = comparison_text(compare(options));
  EXPECT_THAT(text, HasSubstr("train/loss<=0.24  evaluate/longer/accuracy>=0.5625\n"));
  EXPECT_THAT(text, ContainsRegex("learned +4 +0 \\[0, 49\\] % +25 \\[5, 70\\] %\n"));
  EXPECT_THAT(text, HasSubstr("share of runs that meet the condition, with its 95 % confidence interval (Wilson)"));
}

TEST_F(CompareFormats, SuccessesNeedAConditionOnAMetric) {
  add_sweep(1);
  const auto error_of = [&](const std::string& text) {
    CompareOptions options;
    options.success = {text};
    return test::error_of<SpecError>([&] { compare(options); });
  };
  for (const char* text : {"train/loss", "train/loss>0.5", "train/loss>=", "train/loss>=a", ">=0.5", "train/loss>=nan"})
    EXPECT_EQ(error_of(text), "--success: expected METRIC>=NUMBER or METRIC<=NUMBER, found '" + std::string(text) +
                                  "'; for example 'evaluate/extrapolated/accuracy>=0.9', in quotes for the shell");
  EXPECT_EQ(error_of("train/los>=0.5"),
            "--success: no run has the metric 'train/los'; did you mean 'train/loss'? "
            "metrics: train/loss, evaluate/longer/accuracy");
}

TEST_F(CompareFormats, BestValuesAreSaidToBeBest) {
  RunRecord run = runs_.record("{type: learned}", 1, 0.5);
  run.metrics = {{"evaluate/longer/accuracy", {100, 200, 300}, {0.1, 0.9, 0.5}}};
  runs_.write(run);
  CompareOptions options;
  EXPECT_EQ(comparison_text(compare(options)),
            "n  evaluate/longer/accuracy\n"
            "-  ------------------------\n"
            "1                   50.00 %\n"
            "\n"
            "evaluate/longer/accuracy: best and last value differ: best 0.9 at step 200, last 0.5\n");
  options.value = MetricValue::best;
  EXPECT_THAT(comparison_text(compare(options)), HasSubstr("90.00 %\n\neach run's best value, not its last\n"));
}

// As when a metric wanders about its end, or falls by less than the seeds scatter.
TEST_F(CompareFormats, BestAndLastAreNotToldApartForNoise) {
  for (int seed = 1; seed <= 3; ++seed) {
    RunRecord run = runs_.record("{type: learned}", seed, 0.5);
    run.metrics = {{"evaluate/longer/accuracy", {100, 200, 300}, {0.1, 0.92, 0.9}},
                   {"train/loss", {100, 200, 300}, {4, 1e-6, 3e-6}},
                   {"evaluate/longer/accuracy_new", {100, 200, 300}, {0.1, 0.3 * seed, 0.3 * seed - 0.05}}};
    runs_.write(run);
  }
  EXPECT_THAT(compare().remarks, testing::IsEmpty());
}

TEST_F(CompareFormats, SmallDifferencesAreNotRoundedAway) {
  for (int seed = 1; seed <= 2; ++seed) {
    runs_.add("{type: learned}", seed, 0.5);
    runs_.add("{type: rel}", seed, 0.5 + 1e-5 * seed);
  }
  EXPECT_THAT(comparison_text(compare()), HasSubstr("+0.0015 ± 0.0064 %"));
}

TEST_F(CompareFormats, TwoGroupsOfSeedsAreRemarked) {
  for (int seed = 1; seed <= 8; ++seed) runs_.add("{type: learned}", seed, seed <= 3 ? 0.02 + seed / 1000.0 : 0.98);
  const std::string text = comparison_text(compare());
  EXPECT_THAT(text, HasSubstr("\nevaluate/longer/accuracy: the seeds fall into two groups: --success "
                              "'evaluate/longer/accuracy>=0.5' shows how many reach the better one\n"));
  EXPECT_THAT(text, HasSubstr("\ntrain/loss: the seeds fall into two groups: --success 'train/loss<=0.5' "));
}

}  // namespace
}  // namespace jari
