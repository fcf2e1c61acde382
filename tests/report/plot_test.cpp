#include "framework/report/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/report/plot_selection.hpp"
#include "framework/report/statistics.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class PlotTest : public testing::Test {
 protected:
  // A run with something for every picture. `position` is one line of YAML, `keys` what else stands in the spec.
  RunRecord record(const std::string& position, int seed, const std::string& keys = "lr: 1") {
    RunRecord run;
    run.attributes.experiment = "extrapolate";
    run.attributes.trial = "trial" + std::to_string(next_);
    run.attributes.index = next_;
    run.attributes.seed = static_cast<std::uint64_t>(seed);
    run.spec_resolved = "experiment: extrapolate\nseed: " + std::to_string(seed) +
                        "\ntask: {type: neighbor, vocabulary: 50, offset: 1}\nmodel: {type: probe, width: 128, "
                        "position: " +
                        position +
                        "}\ntrain: {length: 3}\nevaluate: {short: {length: 3}, long: {length: 5}}\n"
                        "analyses: {bias: {type: position_bias}}\n" +
                        keys + "\n";
    run.metrics = {{"train/loss", {1, 10, 20}, {4.0, 2.0 + seed, 0.125 * seed}},
                   {"evaluate/short/accuracy", {20}, {1.0 / seed}},
                   {"evaluate/long/accuracy", {20}, {0.5 / seed}},
                   {"evaluate/long/accuracy_new", {20}, {0.25 / seed}}};
    run.evaluate = {
        {"short/accuracy_by_position", {3}, std::vector<double>{1, 0.9, kNaN}, {"position"}},
        {"long/accuracy_by_position", {5}, std::vector<double>{1, 0.5 / seed, 0.1, 0.3, kNaN}, {"position"}}};
    return run;
  }
  void write(const RunRecord& run) {
    const auto folder = runs_ / ("trial" + std::to_string(next_++));
    std::filesystem::create_directories(folder);
    write_run_file(folder / kRunFile, run);
  }
  void add_two_schemes() {
    for (const char* position : {"{type: sin}", "{type: rel, max_length: 3}"})
      for (const int seed : {1, 2, 4}) write(record(position, seed));
  }
  Plot plot(const PlotOptions& options) const { return make_plot({runs_}, options); }
  Plot plot(const std::string& what) const { return plot(PlotOptions{.what = what}); }
  std::string error(const PlotOptions& options) const {
    return test::error_of<SpecError>([&] { plot(options); });
  }

  test::TemporaryFolder folder_;
  std::filesystem::path runs_ = folder_.path() / "extrapolate";
  int next_ = 0;
};

std::vector<std::string> names_of(const PicturePanel& panel) {
  std::vector<std::string> names;
  for (const PictureSeries& series : panel.series) names.push_back(series.name);
  return names;
}

// -- values are those of the run files

TEST_F(PlotTest, LossHasTheSeedsOfTheFilesAndTheirMeanAndInterval) {
  add_two_schemes();
  const Picture picture = plot("loss").picture;
  ASSERT_THAT(picture.panels, SizeIs(1));
  const PicturePanel& panel = picture.panels[0];
  EXPECT_THAT(names_of(panel), ElementsAre("sin", "rel"));
  EXPECT_EQ(panel.y.label, "training loss (nats per token)");
  const PictureSeries& series = panel.series[1];
  EXPECT_THAT(series.seeds, ElementsAre(ElementsAre(Point{1, 4}, Point{10, 3}, Point{20, 0.125}),
                                        ElementsAre(Point{1, 4}, Point{10, 4}, Point{20, 0.25}),
                                        ElementsAre(Point{1, 4}, Point{10, 6}, Point{20, 0.5})));
  const Statistics expected = summarize(std::vector<double>{3, 4, 6});
  EXPECT_THAT(series.means, SizeIs(3));
  EXPECT_EQ(series.means[1], (MeanPoint{10, expected.mean, expected.interval->low, expected.interval->high}));
  EXPECT_EQ(picture.caption,
            "lines: means of 3 seeds; bands: their 95 % t-intervals; thin lines: seeds; dotted line: chance, ln 50");
}

TEST_F(PlotTest, AccuracyByPositionShadesTheTrainedSpanAndDrawsChance) {
  add_two_schemes();
  const Picture picture = plot("accuracy_by_position").picture;
  ASSERT_THAT(picture.panels, SizeIs(2));
  EXPECT_EQ(picture.panels[0].title, "short");
  EXPECT_EQ(picture.panels[1].title, "long");
  const PicturePanel& panel = picture.panels[1];
  EXPECT_THAT(panel.series[0].seeds[0], ElementsAre(Point{0, 1}, Point{1, 0.5}, Point{2, 0.1}, Point{3, 0.3}))
      << "the last position has no target";
  EXPECT_THAT(panel.series[0].seeds[2], ElementsAre(Point{1, 0.125})) << "the others lie on those of the first seed";
  EXPECT_DOUBLE_EQ(panel.series[0].means[2].mean, 0.1);
  ASSERT_THAT(panel.marks, SizeIs(2));
  EXPECT_EQ(panel.marks[0].from, -0.5);
  EXPECT_EQ(panel.marks[0].to, 2.5);
  EXPECT_EQ(panel.marks[1].from, 0.02);
  EXPECT_EQ(panel.marks[1].label, "chance, 1/50");
  EXPECT_THAT(plot(PlotOptions{.what = "accuracy_by_position", .evaluate = {"short"}}).picture.panels, SizeIs(1));
}

TEST_F(PlotTest, AccuracyByLengthTakesLengthsFromTheSpec) {
  add_two_schemes();
  const PicturePanel panel = plot("accuracy_by_length").picture.panels.at(0);
  ASSERT_THAT(panel.series, SizeIs(2));
  EXPECT_THAT(panel.x.ticks, ElementsAre(testing::Pair(3, "3"), testing::Pair(5, "5")));
  EXPECT_EQ(panel.series[0].seeds[1][0].y, 0.5);
  EXPECT_EQ(panel.series[0].seeds[1][1].y, 0.25);
  EXPECT_THAT(panel.series[0].means[0].mean, DoubleNear((1 + 0.5 + 0.25) / 3, 1e-15));
  EXPECT_LT(panel.series[0].means[0].x, panel.series[1].means[0].x) << "side by side";
  const PicturePanel fresh =
      plot(PlotOptions{.what = "accuracy_by_length", .metric = "accuracy_new"}).picture.panels.at(0);
  EXPECT_THAT(fresh.x.ticks, ElementsAre(testing::Pair(5, "5")));
  EXPECT_EQ(fresh.series[0].seeds[0][0].y, 0.25);
}

TEST_F(PlotTest, FinalHasACategoryForEachCurve) {
  add_two_schemes();
  const PlotOptions options{.what = "final", .metric = "evaluate/long/accuracy"};
  const PicturePanel panel = plot(options).picture.panels.at(0);
  EXPECT_TRUE(panel.sideways);
  EXPECT_THAT(panel.x.ticks, ElementsAre(testing::Pair(0, "sin"), testing::Pair(1, "rel")));
  EXPECT_EQ(panel.series[1].seeds[1][0].y, 0.25);
  EXPECT_EQ(panel.series[1].means[0].x, 1);
  EXPECT_THAT(plot("final").picture.panels, SizeIs(2)) << "a panel for each accuracy";
}

TEST_F(PlotTest, FinalDrawsTheBaselineOfTheSweep) {
  add_two_schemes();
  write_file_atomically(runs_ / "sweep.yaml",
                        "jari: 0.1.0\nspec:\n  sweep:\n    baseline: {model.position.type: rel}\ntrials:\n  - one\n");
  const Picture picture = plot(PlotOptions{.what = "final", .metric = "evaluate/long/accuracy"}).picture;
  ASSERT_THAT(picture.panels.at(0).marks, SizeIs(2));
  const PictureMark& mark = picture.panels[0].marks[1];
  EXPECT_EQ(mark.form, PictureMark::Form::baseline);
  EXPECT_EQ(mark.from, picture.panels[0].series[1].means[0].mean);
  EXPECT_EQ(
      picture.caption,
      "marks: means of 3 seeds; bars: their 95 % t-intervals; dots: seeds; dotted line: chance, 1/50; dashed line: "
      "mean of the baseline, rel");
}

TEST_F(PlotTest, BiasIsTakenFromTheAnalysisElseFromATableOfOffsets) {
  RunRecord analyzed = record("{type: alibi}", 1);
  analyzed.analyses = {{"bias",
                        {{"offset", {3}, std::vector<double>{-1, 0, 1}, {"offset"}},
                         {"bias_by_offset", {1, 3}, std::vector<double>{-2, 0, -0.5}, {"head", "offset"}}},
                        {},
                        ""}};
  write(analyzed);
  RunRecord table = record("{type: rel, max_length: 2}", 1);
  table.weights = {{"position/table", {3}, std::vector<float>{0.25F, 1, -INFINITY}, {"offset"}}};
  write(table);
  RunRecord without = record("{type: sin}", 1);
  without.analyses = {{"bias", {}, {}, "the model's positional scheme adds nothing to scores"}};
  write(without);
  const Plot drawn = plot("bias");
  const PicturePanel& panel = drawn.picture.panels.at(0);
  EXPECT_THAT(names_of(panel), ElementsAre("alibi", "rel"));
  EXPECT_THAT(panel.series[0].means,
              ElementsAre(MeanPoint{-1, -2, -2, -2}, MeanPoint{0, 0, 0, 0}, MeanPoint{1, -0.5, -0.5, -0.5}));
  EXPECT_THAT(panel.series[1].means, ElementsAre(MeanPoint{-1, 0.25, 0.25, 0.25}, MeanPoint{0, 1, 1, 1}))
      << "what is out of sight has no place";
  EXPECT_THAT(drawn.notes, ElementsAre("some runs have not recorded a bias (sin: the model's positional scheme adds "
                                       "nothing to scores)"));
}

TEST_F(PlotTest, BiasOfSeveralHeadsHasAPanelForEachScheme) {
  RunRecord run = record("{type: rel, max_length: 2}", 1);
  run.weights = {{"position/table", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}, {"head", "offset"}}};
  write(run);
  const PicturePanel panel = plot("bias").picture.panels.at(0);
  EXPECT_THAT(names_of(panel), ElementsAre("head 0", "head 1"));
  EXPECT_EQ(panel.series[1].means[2], (MeanPoint{1, 6, 6, 6}));
}

TEST_F(PlotTest, DotProductsAreMeansOverTheSeeds) {
  for (const int seed : {1, 2}) {
    RunRecord run = record("{type: learned}", seed);
    const float scale = static_cast<float>(seed);
    run.weights = {{"position/table", {2, 2}, std::vector<float>{scale, 0, scale, 1}, {"position", "width"}}};
    write(run);
  }
  const Picture picture = plot("dot_products").picture;
  EXPECT_THAT(picture.panels.at(0).heat->values, ElementsAre(2.5, 2.5, 2.5, 3.5));
  EXPECT_EQ(picture.caption, "means of 2 seeds");
  const PicturePanel by_gap = plot("dot_products_by_gap").picture.panels.at(0);
  EXPECT_THAT(by_gap.series[0].seeds[1], ElementsAre(Point{0, 4.5}, Point{1, 4}));
  const PicturePanel norm = plot("norm").picture.panels.at(0);
  EXPECT_THAT(norm.series[0].seeds[0], ElementsAre(Point{0, 1}, Point{1, std::sqrt(2.0)}));
}

TEST_F(PlotTest, DotProductsComeFromCosinesAndNormsToo) {
  RunRecord run = record("{type: sin}", 1);
  run.analyses = {{"vectors",
                   {{"cosine", {2, 2}, std::vector<double>{1, 0.5, 0.5, 1}, {"position", "position"}},
                    {"norm", {2}, std::vector<double>{2, 4}, {"position"}}},
                   {},
                   ""}};
  write(run);
  EXPECT_THAT(plot("dot_products").picture.panels.at(0).heat->values, ElementsAre(4, 4, 4, 16));
  EXPECT_THAT(plot("cosine").picture.panels.at(0).heat->values, ElementsAre(1, 0.5, 0.5, 1));
  EXPECT_THAT(plot("cosine_by_gap").picture.panels.at(0).series[0].means[1].mean, 0.5);
}

// -- panels, curves, tones

TEST_F(PlotTest, FurtherKeysMakePanelsWithEqualAxesAndEqualTones) {
  for (const char* rate : {"0.1", "0.2"})
    for (const char* type : {"{type: sin}", "{type: rel}"}) write(record(type, 1, std::string("lr: ") + rate));
  const Picture picture = plot("loss").picture;
  ASSERT_THAT(picture.panels, SizeIs(2));
  EXPECT_EQ(picture.panels[0].title, "lr = 0.1");
  EXPECT_THAT(names_of(picture.panels[1]), ElementsAre("sin", "rel"));
  EXPECT_EQ(picture.panels[0].series[1].tone, scheme_tone("rel"));
  EXPECT_EQ(picture.panels[1].series[1].tone, scheme_tone("rel"));
  EXPECT_EQ(picture.panels[0].y.high, picture.panels[1].y.high);
  const Picture by_rate = plot(PlotOptions{.what = "loss", .by = {"lr"}}).picture;
  EXPECT_THAT(names_of(by_rate.panels.at(0)), ElementsAre("0.1", "0.2"));
  EXPECT_EQ(by_rate.panels[0].series[0].tone, ordinal_tone(0));
  EXPECT_THAT(by_rate.panels[0].series[0].seeds, SizeIs(2)) << "schemes are pooled";
}

TEST_F(PlotTest, AListOfTrialsIsOnePanelWithVariantsOfATone) {
  write(record("{type: sin}", 1, "lr: 0.1"));
  write(record("{type: rel}", 1, "lr: 0.1"));
  write(record("{type: rel}", 1, "lr: 0.2"));
  const PicturePanel panel = plot("loss").picture.panels.at(0);
  EXPECT_THAT(names_of(panel), ElementsAre("sin, lr=0.1", "rel, lr=0.1", "rel, lr=0.2"));
  EXPECT_EQ(panel.series[2].tone, variant_of(scheme_tone("rel"), 1));
}

TEST_F(PlotTest, OnlyKeepsTheRunsThatAreAskedFor) {
  for (const char* type : {"{type: sin}", "{type: rel, a: 1, b: 2}", "{type: rel, a: 2, b: 1}", "{type: rope}"})
    write(record(type, 1));
  const auto names = [&](std::vector<std::string> only) {
    return names_of(plot(PlotOptions{.what = "loss", .only = std::move(only)}).picture.panels.at(0));
  };
  EXPECT_THAT(names({"model.position=sin", "rope"}), ElementsAre("sin", "rope"));
  EXPECT_THAT(names({"model.position=rel"}), SizeIs(2)) << "a type means all its blocks";
  EXPECT_THAT(names({"model.position=rel (a=1", " b=2)", "sin"}), SizeIs(2)) << "no comma within brackets separates";
  EXPECT_EQ(error({.what = "loss", .only = {"model.position=ropy"}}),
            "--only: no run has model.position 'ropy'; did you mean 'rope'? values: sin, rel (a=1, b=2), rel (a=2, "
            "b=1), rope");
  EXPECT_EQ(error({.what = "loss", .only = {"rope"}}),
            "--only 'rope': expected KEY=VALUE, e.g. --only model.position=rel,sin");
}

TEST_F(PlotTest, TooManyPanelsOrCurvesSayWhichKeysThereAre) {
  for (int lr = 0; lr < 13; ++lr)
    for (const char* type : {"{type: sin}", "{type: rel}"}) write(record(type, 1, "lr: " + std::to_string(lr)));
  EXPECT_EQ(error({.what = "loss"}),
            "--by: 13 panels are too many to read (12 at most); give the keys to show with --by (the others are "
            "pooled), or fewer values with --only or --evaluate; keys that vary: model.position (2 values), lr (13 "
            "values)");
  for (int lr = 13; lr < 25; ++lr)
    for (const char* type : {"{type: sin}", "{type: rel}"}) write(record(type, 1, "lr: " + std::to_string(lr)));
  EXPECT_THAT(error({.what = "loss", .by = {"lr"}}),
              HasSubstr("25 curves in one panel can not be told apart (24 at most)"));
}

TEST_F(PlotTest, OneRunIsDrawnWithoutLegendAndInTheColorOfItsScheme) {
  write(record("{type: rope}", 1));
  const Picture picture = plot("loss").picture;
  EXPECT_EQ(picture.panels.at(0).series.at(0).tone, scheme_tone("rope"));
  EXPECT_THAT(picture.panels[0].series[0].seeds, IsEmpty());
  EXPECT_EQ(picture.caption, "one seed; dotted line: chance, ln 50");
}

TEST_F(PlotTest, ChanceIsDrawnOnlyWhereItIsKnown) {
  RunRecord run = record("{type: rope}", 1);
  run.spec_resolved.replace(run.spec_resolved.find("neighbor"), 8, "counting");
  write(run);
  EXPECT_THAT(plot("loss").picture.panels.at(0).marks, IsEmpty());
}

TEST_F(PlotTest, LongCurvesAreThinnedAndManyDotsBecomeLines) {
  for (int seed = 1; seed <= 20; ++seed) {
    RunRecord run = record("{type: sin}", seed);
    MetricSeries& loss = run.metrics[0];
    loss.steps.clear();
    loss.values.clear();
    for (int step = 0; step < 5000; ++step) {
      loss.steps.push_back(step);
      loss.values.push_back(step == 2222 ? 50 : 1);
    }
    run.evaluate = {{"long/accuracy_by_position", {100}, std::vector<double>(100, 0.5), {"position"}}};
    write(run);
  }
  const PictureSeries series = plot("loss").picture.panels.at(0).series.at(0);
  EXPECT_LE(series.means.size(), 300u);
  const auto is_spike = [](const auto& point) { return point.x == 2222; };
  EXPECT_TRUE(std::ranges::any_of(series.means, is_spike));
  std::size_t points = 0;
  for (const auto& seed : series.seeds) {
    points += seed.size();
    EXPECT_TRUE(std::ranges::any_of(seed, is_spike));
  }
  EXPECT_LE(points, 3000u);
  EXPECT_EQ(plot("accuracy_by_position").picture.panels.at(0).series.at(0).form, PictureSeries::Form::curve);
}

TEST_F(PlotTest, ALogarithmicAxisIsFreeOfEndsThatAreNotPositive) {
  add_two_schemes();
  const Picture picture = plot(PlotOptions{.what = "accuracy_by_position", .log = true}).picture;
  for (const PicturePanel& panel : picture.panels) {
    EXPECT_TRUE(panel.y.log);
    ASSERT_TRUE(panel.y.low);
    EXPECT_GT(*panel.y.low, 0);
    EXPECT_THAT(panel.y.ticks, IsEmpty());
  }
}

TEST_F(PlotTest, ALogarithmicAxisHasGeometricMeansOfWhatIsPositive) {
  for (const double loss : {1.0, 100.0, 0.0}) {
    RunRecord run = record("{type: sin}", next_ + 1);
    run.metrics[0] = {"train/loss", {1, 2}, {loss, 7}};
    write(run);
  }
  const Picture picture = plot(PlotOptions{.what = "loss", .log = true}).picture;
  const MeanPoint point = picture.panels.at(0).series.at(0).means.at(0);
  EXPECT_NEAR(point.mean, 10, 1e-12);
  // Student's t for one degree of freedom is 12.7062; the standard error of two values that are two decades apart is
  // one.
  EXPECT_NEAR(std::log10(point.high), 1 + 12.7062, 1e-4);
  EXPECT_EQ(picture.caption,
            "lines: geometric means of 3 seeds; bands: their 95 % t-intervals (of mean logarithms); thin lines: seeds; "
            "dotted line: chance, ln 50");
}

TEST_F(PlotTest, AHeatMapHasNoLogarithmicAxis) {
  RunRecord run = record("{type: learned}", 1);
  run.weights = {{"position/table", {2, 1}, std::vector<float>{1, 2}, {"position", "width"}}};
  write(run);
  EXPECT_EQ(error({.what = "dot_products", .log = true}),
            "--log: a heat map has no upright axis to be logarithmic; leave --log out");
}

// -- what can not be drawn

TEST_F(PlotTest, UnknownNamesAreSaidWithTheNearest) {
  add_two_schemes();
  EXPECT_THAT(error({.what = "los"}), testing::StartsWith("--what: there is no picture 'los'; did you mean 'loss'? "
                                                          "pictures: loss, final, accuracy_by_length, "));
  EXPECT_THAT(error({.what = "evaluate/long/acuracy"}),
              testing::StartsWith("--what: no run has the metric 'evaluate/long/acuracy'; did you mean "
                                  "'evaluate/long/accuracy'? metrics: train/loss, "));
  EXPECT_EQ(error({.what = "accuracy_by_position", .evaluate = {"lang"}}),
            "--evaluate: no run has the entry 'lang'; did you mean 'long'? entries: short, long");
  EXPECT_EQ(error({.what = "accuracy_by_length", .evaluate = {"lang"}}),
            "--evaluate: no run has the entry 'lang'; did you mean 'long'? entries: short, long");
  EXPECT_THAT(error({.what = "final", .metric = "train/lost"}), HasSubstr("did you mean 'train/loss'?"));
  EXPECT_THAT(error({.what = "accuracy_by_length", .metric = "acuracy"}),
              testing::StartsWith("no evaluate entry has the metric 'acuracy'"));
  EXPECT_THAT(error({.what = "loss", .by = {"model.with"}}), HasSubstr("did you mean 'model.width'?"));
}

TEST_F(PlotTest, AMetricOfOneStepIsNoCurve) {
  add_two_schemes();
  EXPECT_EQ(error({.what = "evaluate/long/accuracy"}),
            "--what evaluate/long/accuracy: it was measured at one step only, so there is no curve; set "
            "train.evaluate_every, or draw its last value with --what final --metric evaluate/long/accuracy");
}

TEST_F(PlotTest, EntriesOfOneLengthAreNotMixed) {
  RunRecord run = record("{type: sin}", 1);
  run.spec_resolved.replace(run.spec_resolved.find("length: 5"), 9, "length: 3");
  write(run);
  EXPECT_EQ(error({.what = "accuracy_by_length"}),
            "--evaluate: the entries short and long both have length 3; name those to draw, e.g. --evaluate long");
}

TEST_F(PlotTest, RunsThatLackWhatIsAskedForSayHowToGetIt) {
  RunRecord run = record("{type: sin}", 1);
  run.evaluate.clear();
  write(run);
  const auto store_error = [&](const char* what) { return test::error_of<StoreError>([&] { plot(what); }); };
  EXPECT_EQ(store_error("bias"),
            "no run has recorded a bias (these runs); add `analyses: {bias: {type: position_bias}}` to the spec and "
            "run it again; without it only a trained table of offsets, as that of rel, can be drawn");
  EXPECT_THAT(store_error("dot_products"),
              testing::StartsWith("no run has recorded vectors of positions (these runs); such vectors come from"));
  EXPECT_EQ(store_error("accuracy_by_position"),
            "no run has accuracy_by_position; it is recorded for each entry of `evaluate:`: give the spec one and run "
            "it again");
  EXPECT_THAT(test::error_of<StoreError>([&] { make_plot({folder_.path() / "nowhere"}, {.what = "loss"}); }),
              HasSubstr("there is no such file or folder"));
}

TEST_F(PlotTest, SizesAreChecked) {
  add_two_schemes();
  EXPECT_EQ(plot(PlotOptions{.what = "loss", .size = "900x600"}).picture.width, 900);
  for (const char* size : {"900", "900x", "x600", "900x600x2", "100x600", "900x100000", "-9x600", "9e2x600"})
    EXPECT_EQ(
        error({.what = "loss", .size = size}),
        "--size '" + std::string(size) + "': expected WIDTHxHEIGHT in pixels, each from 200 to 10000, such as 900x600");
}

TEST_F(PlotTest, OnlyKnownEndingsAreWritten) {
  EXPECT_EQ(test::error_of<SpecError>([] { check_plot_output("plot.pdf"); }),
            "-o plot.pdf: expected a file that ends in .svg, .png or .gp (gnuplot's script), found '.pdf'");
  EXPECT_THAT(test::error_of<SpecError>([] { check_plot_output("plot"); }), HasSubstr("found no ending"));
  for (const char* output : {"a.svg", "a.png", "a.gp"}) check_plot_output(output);
}

TEST_F(PlotTest, EachKindIsNamedAndDescribedOnce) {
  for (const PlotKind& kind : plot_kinds()) {
    EXPECT_GT(std::string(kind.what).size(), 20u) << kind.name;
    EXPECT_EQ(std::ranges::count(plot_kinds(), std::string(kind.name),
                                 [](const PlotKind& other) { return std::string(other.name); }),
              1);
  }
}

}  // namespace
}  // namespace jari
