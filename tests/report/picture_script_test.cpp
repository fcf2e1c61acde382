#include "framework/report/picture_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "framework/base/error.hpp"
#include "framework/report/picture_layout.hpp"
#include "tests/support/errors.hpp"

namespace jari {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

PictureSeries curve(const std::string& name, std::size_t place) {
  return {name, ordinal_tone(place), PictureSeries::Form::curve, true, {{0, 1, 0.5, 1.5}, {1, 2, 1.75, 2.25}}, {}};
}

Picture picture_of(std::size_t panels, const std::vector<std::string>& names) {
  Picture picture;
  picture.title = "Title";
  picture.caption = "caption";
  for (std::size_t i = 0; i < panels; ++i) {
    PicturePanel panel;
    panel.title = "panel";
    panel.x.label = "x";
    panel.y.label = "y";
    for (std::size_t k = 0; k < names.size(); ++k) panel.series.push_back(curve(names[k], k));
    picture.panels.push_back(panel);
  }
  return picture;
}

// -- texts

TEST(GnuplotQuoted, LeavesNothingForGnuplotToRun) {
  EXPECT_EQ(gnuplot_quoted("a_b^c {d} \"e\" `date` @f $g"), "'a_b^c {d} \"e\" `date` @f $g'");
  EXPECT_EQ(gnuplot_quoted("it's"), "'it''s'");
  EXPECT_EQ(gnuplot_quoted("back\\slash"), "'back\\slash'");
}

TEST(GnuplotQuoted, JoinsLines) { EXPECT_EQ(gnuplot_quoted("one\ntwo"), "'one'.\"\\n\".'two'"); }

TEST(GnuplotQuoted, KeepsHangulAndMendsWhatIsNoText) {
  EXPECT_EQ(gnuplot_quoted("위치 체계"), "'위치 체계'");
  EXPECT_EQ(gnuplot_quoted("a\xFFz\t\x1B"), "'a\xEF\xBF\xBDz  '");
}

// -- the script

TEST(GnuplotScript, HoldsTheDataAndDrawsBandsBelowSeedsBelowMeans) {
  Picture picture = picture_of(1, {"rel"});
  picture.panels[0].series[0].seeds = {{{0, 0.1}, {1, 0.30000000000000004}}, {{0, 1.9}}};
  const std::string script = gnuplot_script(picture, PictureFormat::svg, "out.svg");
  EXPECT_THAT(script, HasSubstr("$mean_1_1 << EOD\n0 1 0.5 1.5\n1 2 1.75 2.25\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$seeds_1_1 << EOD\n0 0.1\n1 0.30000000000000004\n\n0 1.9\nEOD\n"));
  EXPECT_THAT(script,
              HasSubstr("plot $mean_1_1 using 1:3:4 with filledcurves fillcolor '#0072B2' fillstyle transparent solid "
                        "0.2 noborder, \\\n"
                        "     $seeds_1_1 using 1:2 with lines linewidth 0.5 linecolor '#900072B2', \\\n"
                        "     $mean_1_1 using 1:2 with linespoints linewidth 2 linecolor '#0072B2' dashtype solid "
                        "pointtype 7 pointsize 0.8 pointinterval 1\n"));
  EXPECT_THAT(script, HasSubstr("set output 'out.svg'\n"));
  EXPECT_THAT(script, HasSubstr("terminal svg noenhanced size 654,"));
}

TEST(GnuplotScript, OfOneSeedHasNoBand) {
  const std::string script = gnuplot_script(picture_of(1, {"rel"}), PictureFormat::svg, "out.svg");
  EXPECT_THAT(script, Not(HasSubstr("filledcurves")));
  EXPECT_THAT(script, Not(HasSubstr("$seeds")));
}

TEST(GnuplotScript, OfAPngHasTwoPixelsForEach) {
  Picture picture = picture_of(1, {"rel"});
  picture.width = 900;
  picture.height = 600;
  EXPECT_THAT(gnuplot_script(picture, PictureFormat::png, "out.png"), HasSubstr("pngcairo noenhanced size 1800,1200 "));
}

TEST(GnuplotScript, MarksASpanAndALevel) {
  Picture picture = picture_of(1, {"rel"});
  picture.panels[0].marks = {{PictureMark::Form::span, -0.5, 19.5, "trained"},
                             {PictureMark::Form::level, 0.02, 0, "chance, 1/50"}};
  const std::string script = gnuplot_script(picture, PictureFormat::svg, "out.svg");
  EXPECT_THAT(script, HasSubstr("set object rectangle from first -0.5,graph 0 to first 19.5,graph 1 behind"));
  EXPECT_THAT(script, HasSubstr("set label 'trained' at first 9.5,graph 0.965"));
  EXPECT_THAT(script, HasSubstr("set arrow from graph 0,first 0.02 to graph 1,first 0.02 nohead"));
  picture.panels[0].sideways = true;
  picture.panels[0].marks.push_back({PictureMark::Form::baseline, 0.5, 0, "mean of the baseline, rel"});
  EXPECT_THAT(
      gnuplot_script(picture, PictureFormat::svg, "out.svg"),
      HasSubstr("set arrow from first 0.5,graph 0 to first 0.5,graph 1 nohead linewidth 1.2 linecolor '#222222' "
                "dashtype (6,4)"));
  EXPECT_THAT(gnuplot_script(picture, PictureFormat::svg, "out.svg"),
              HasSubstr("set arrow from first 0.02,graph 0 to first 0.02,graph 1 nohead"));
}

TEST(GnuplotScript, SidewaysHasItsBarsAcross) {
  Picture picture = picture_of(1, {"rel"});
  picture.panels[0].sideways = true;
  picture.panels[0].series[0].form = PictureSeries::Form::bars;
  picture.panels[0].series[0].joined = false;
  const std::string script = gnuplot_script(picture, PictureFormat::svg, "out.svg");
  EXPECT_THAT(script, HasSubstr("plot $mean_1_1 using 2:1:3:4 with xerrorbars pointtype 7"));
  EXPECT_THAT(script, Not(HasSubstr("with lines")));
}

TEST(GnuplotScript, DrawsAMatrixWithItsOwnScale) {
  Picture picture = picture_of(1, {});
  picture.heat_label = "dot product";
  picture.panels[0].heat = HeatMap{2, 2, {1, -2, 3, 4.5}};
  const std::string script = gnuplot_script(picture, PictureFormat::svg, "out.svg");
  EXPECT_THAT(script, HasSubstr("$heat_1 << EOD\n1 -2\n3 4.5\nEOD\nplot $heat_1 matrix with image\n"));
  EXPECT_THAT(script, HasSubstr("set cbrange [-2:4.5]\nset cblabel 'dot product'"));
}

TEST(GnuplotScript, LeavesNoNumberOutOfALogarithmicAxis) {
  Picture picture = picture_of(1, {"rel"});
  picture.panels[0].y.log = true;
  picture.panels[0].series[0].means = {{1, 0.01, 0, 0.03}, {2, 100, 50, 200}};
  const std::string script = gnuplot_script(picture, PictureFormat::svg, "out.svg");
  const std::size_t at = script.find("set logscale y\nset yrange [");
  ASSERT_NE(at, std::string::npos);
  double low = 0, high = 0;
  ASSERT_EQ(std::sscanf(script.c_str() + at, "set logscale y\nset yrange [%lf:%lf]", &low, &high), 2);
  EXPECT_GT(low, 0);
  EXPECT_LE(low, 0.01);
  EXPECT_GE(high, 200);
}

// -- layout

bool overlap(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

TEST(PictureLayout, LaysNothingOnAnythingAndAllInside) {
  const std::vector<std::string> short_names = {"learned", "sin", "rel"};
  std::vector<std::string> long_names;
  for (int i = 0; i < 16; ++i)
    long_names.push_back("rel (unseen=clamp, lr=0.1, init=normal, n=" + std::to_string(i) + ")");
  for (const std::size_t panels : {1, 2, 3, 4, 5, 7, 12}) {
    for (const auto& names : {short_names, long_names}) {
      const PictureLayout layout = lay_out(picture_of(panels, names));
      ASSERT_EQ(layout.panels.size(), panels);
      std::vector<Box> boxes = layout.panels;
      for (const LegendEntry& entry : layout.legend)
        boxes.push_back(
            {entry.x, entry.x + kSampleWidth + 6 + text_width(entry.name, kFontSize), entry.y - 8, entry.y + 8});
      boxes.push_back({0, 5, layout.caption_y - 5, layout.caption_y + 5});
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        SCOPED_TRACE(testing::Message() << panels << " panels, " << names.size() << " curves, box " << i);
        EXPECT_GE(boxes[i].left, 0);
        EXPECT_LE(boxes[i].right, layout.width);
        EXPECT_GE(boxes[i].top, 0);
        EXPECT_LE(boxes[i].bottom, layout.height);
        EXPECT_GT(boxes[i].right - boxes[i].left, 0);
        EXPECT_GT(boxes[i].bottom - boxes[i].top, 0);
        for (std::size_t k = 0; k < i; ++k) EXPECT_FALSE(overlap(boxes[i], boxes[k])) << k;
      }
    }
  }
}

TEST(PictureLayout, SaysThatAPictureIsTooSmall) {
  Picture picture = picture_of(12, {"rel", "sin"});
  picture.width = 500;
  picture.height = 300;
  EXPECT_EQ(test::error_of<SpecError>([&] { lay_out(picture); }),
            "--size: 500x300 leaves no room for 12 panels beside their texts; give a larger size, or leave --size out");
}

TEST(PictureLayout, PutsLongNamesBelowAndNamesNoSingleCurve) {
  EXPECT_THAT(lay_out(picture_of(1, {"rel"})).legend, testing::IsEmpty());
  const PictureLayout beside = lay_out(picture_of(1, {"rel", "sin"}));
  EXPECT_GT(beside.legend[0].x, beside.panels[0].right);
  const PictureLayout below = lay_out(picture_of(1, {"rel", std::string(40, 'x')}));
  EXPECT_GT(below.legend[0].y, below.panels[0].bottom);
}

TEST(PictureLayout, WrapsATitleAndKnowsThatHangulIsWide) {
  Picture picture = picture_of(1, {"rel"});
  picture.title = "아주 긴 제목은 그림의 폭을 넘지 않도록 여러 줄로 나뉘어야 하며 어느 줄도 그림보다 넓지 않아야 한다";
  const PictureLayout layout = lay_out(picture);
  EXPECT_GT(layout.title.size(), 1u);
  for (const std::string& line : layout.title) EXPECT_LE(text_width(line, kTitleSize), layout.width);
  EXPECT_EQ(text_width("가", 10), text_width("ab", 10));
}

// -- tones

TEST(Tones, AreOnesOwnForEachKnownScheme) {
  std::set<std::string> colors;
  for (const char* scheme : {"none", "learned", "sin", "rel", "rope", "alibi", "t5", "shaw", "xpos", "fire", "kerple",
                             "randomized", "transformer_xl", "cope", "abacus", "sandwich", "dape"})
    EXPECT_TRUE(colors.insert(scheme_tone(scheme).color).second) << scheme;
  EXPECT_EQ(scheme_tone("rel").color, "#009E73");
}

TEST(Tones, OfAnUnknownSchemeStayTheSame) {
  EXPECT_EQ(scheme_tone("mine"), scheme_tone("mine"));
  EXPECT_EQ(scheme_tone("mine").color.size(), 7u);
  EXPECT_GT(scheme_tone("mine").dash, 1) << "not solid, as those of the table's first";
}

TEST(Tones, OfOtherKeysDifferUpToThirtyTwo) {
  std::set<std::pair<std::string, int>> looks;
  for (std::size_t i = 0; i < 32; ++i) {
    const Tone tone = ordinal_tone(i);
    EXPECT_TRUE(looks.insert({tone.color, tone.dash}).second) << i;
  }
  EXPECT_EQ(ordinal_tone(32).color, ordinal_tone(0).color);
}

TEST(Tones, OfVariantsKeepTheColor) {
  const Tone tone = scheme_tone("rel"), second = variant_of(tone, 1);
  EXPECT_EQ(variant_of(tone, 0), tone);
  EXPECT_EQ(second.color, tone.color);
  EXPECT_NE(second.dash, tone.dash);
  EXPECT_NE(second.marker, tone.marker);
}

// -- thinning

TEST(Thinned, KeepsEndsAndEverySpike) {
  std::vector<double> values(10000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i) / 500);
  values[4321] = 9;
  values[7777] = -9;
  const std::vector<std::size_t> kept = thinned(values, 100);
  EXPECT_LE(kept.size(), 100u);
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), values.size() - 1);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  EXPECT_TRUE(std::ranges::adjacent_find(kept) == kept.end());
  EXPECT_TRUE(std::ranges::binary_search(kept, 4321u));
  EXPECT_TRUE(std::ranges::binary_search(kept, 7777u));
}

TEST(Thinned, LeavesShortCurvesAlone) {
  EXPECT_THAT(thinned({3, 1, 2}, 100), ElementsAre(0, 1, 2));
  EXPECT_THAT(thinned({}, 100), testing::IsEmpty());
  EXPECT_THAT(thinned({1, 1, 1, 1}, 1), ElementsAre(0, 1, 2, 3)) << "too few to leave any out";
}

}  // namespace
}  // namespace jari
