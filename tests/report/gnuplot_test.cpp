// What gnuplot makes of pictures. Skipped where it is not installed.

#include "framework/report/gnuplot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "framework/base/error.hpp"
#include "framework/report/plot.hpp"
#include "framework/store/atomic_file.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/files.hpp"

namespace jari {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Path {
 public:
  explicit Path(const std::string& folders) : before_(std::getenv("PATH")) { ::setenv("PATH", folders.c_str(), 1); }
  ~Path() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

class Gnuplot : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("gnuplot --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "gnuplot is not installed";
  }
  Plot plot() const {
    Plot plot;
    plot.picture.title = "위치 체계, a_b <&> it's `date`";
    PicturePanel panel;
    panel.y.label = "정확도";
    panel.series = {
        {"rel", scheme_tone("rel"), PictureSeries::Form::dots, true, {{0, 1, 0, 2}, {1, 2, 1, 3}}, {{{0, 1}, {1, 3}}}},
        {"절대 위치", scheme_tone("learned"), PictureSeries::Form::curve, true, {{0, 2, 2, 2}, {1, 2, 2, 2}}, {}}};
    plot.picture.panels = {panel};
    return plot;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Gnuplot, DrawsAnSvgThatNeedsNothingElseAndIsTheSameEachTime) {
  write_plot(plot(), folder_.path() / "one.svg");
  write_plot(plot(), folder_.path() / "two.svg");
  const std::string svg = test::read_text(folder_.path() / "one.svg");
  EXPECT_EQ(svg, test::read_text(folder_.path() / "two.svg"));
  EXPECT_THAT(svg, StartsWith("<?xml"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  EXPECT_THAT(svg, HasSubstr("<text>위치 체계, a_b &lt;&amp;> it's `date`</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>위치 체계, a_b &lt;&amp;&gt; it's `date`</title>"));
  EXPECT_THAT(svg, HasSubstr("정확도"));
  EXPECT_THAT(svg, HasSubstr("절대 위치"));
  EXPECT_THAT(svg, Not(HasSubstr("href=\"http")));
  EXPECT_THAT(svg, Not(HasSubstr("href='http")));
}

TEST_F(Gnuplot, DrawsAHeatMapWithItsImageInside) {
  Plot plot;
  PicturePanel panel;
  panel.heat = HeatMap{2, 2, {1, 2, 3, 4}};
  plot.picture.panels = {panel, panel};
  write_plot(plot, folder_.path() / "heat.svg");
  EXPECT_THAT(test::read_text(folder_.path() / "heat.svg"),
              HasSubstr("<image image-rendering='optimizeSpeed' style='image-rendering:pixelated' "));
  EXPECT_THAT(test::read_text(folder_.path() / "heat.svg"), HasSubstr("href='data:image/png;base64,"));
}

TEST_F(Gnuplot, DrawsAPngOfTheRightSize) {
  Plot drawn = plot();
  drawn.picture.width = 450;
  drawn.picture.height = 300;
  write_plot(drawn, folder_.path() / "plot.png");
  const std::string png = test::read_text(folder_.path() / "plot.png");
  EXPECT_THAT(png, StartsWith("\x89PNG\r\n"));
  // The header's width and height, big-endian.
  EXPECT_EQ(png.substr(16, 8), std::string({0, 0, 3, static_cast<char>(0x84), 0, 0, 2, 0x58}));
}

TEST_F(Gnuplot, SaysWhatItComplainsAbout) {
  const std::string error = test::error_of<Error>([] { draw_with_gnuplot("plot no_such_function(x)\n"); });
  EXPECT_THAT(error, StartsWith("gnuplot ended with status 1 and said:\n"));
  EXPECT_THAT(error, HasSubstr("no_such_function"));
  EXPECT_THAT(error, HasSubstr("write the script with -o FILE.gp to see what it was given"));
}

TEST_F(Gnuplot, LeavesWhatWasThereIfTheFileCanNotBeWritten) {
  EXPECT_THAT(test::error_of<StoreError>([&] { write_plot(plot(), folder_.path() / "missing" / "plot.svg"); }),
              HasSubstr("missing/plot.svg: can not write: No such file or directory"));
  write_file_atomically(folder_.path() / "plot.svg", "before");
  {
    const Path nothing(folder_.path().string());
    EXPECT_NE(test::error_of<Error>([&] { write_plot(plot(), folder_.path() / "plot.svg"); }), "no error");
  }
  EXPECT_EQ(test::read_text(folder_.path() / "plot.svg"), "before");
}

TEST_F(Gnuplot, DrawsTheScriptThatIsWrittenForChanging) {
  write_plot(plot(), folder_.path() / "plot.gp");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "plot.svg"));
  EXPECT_EQ(std::system(("cd '" + folder_.path().string() + "' && gnuplot -d plot.gp").c_str()), 0);
  EXPECT_THAT(test::read_text(folder_.path() / "plot.svg"), HasSubstr("위치 체계"));
}

TEST(GnuplotMissing, SaysWhatToInstall) {
  const test::TemporaryFolder empty;
  const Path nothing(empty.path().string());
  EXPECT_EQ(test::error_of<Error>([] { draw_with_gnuplot(""); }),
            "gnuplot, which draws the pictures, is not installed; as root, type: apt-get install "
            "--no-install-recommends gnuplot-nox fonts-nanum; or write its script with -o FILE.gp, to draw elsewhere");
}

}  // namespace
}  // namespace jari
