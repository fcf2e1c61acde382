#include "framework/report/picture_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/base/text.hpp"
#include "framework/report/picture_layout.hpp"

namespace jari {
namespace {

constexpr const char* kInk = "#222222";
constexpr const char* kPale = "#666666";

// gnuplot's point types of Tone::marker.
constexpr int kPointTypes[] = {7, 5, 9, 13, 11, 15};
constexpr const char* kDashes[] = {"solid", "(6,4)", "(2,3)", "(9,3,2,3)"};

std::string color(const Tone& tone, int transparency) {
  return transparency == 0 ? tone.color : fmt::format("#{:02X}{}", transparency, tone.color.substr(1));
}

std::string dash(const Tone& tone) { return kDashes[tone.dash - 1]; }
int point_type(const Tone& tone) { return kPointTypes[tone.marker]; }

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void include(double value, bool log) {
    if (!std::isfinite(value) || (log && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class ScriptWriter {
 public:
  ScriptWriter(const Picture& picture, PictureFormat format, const std::string& output)
      : picture_(picture), layout_(lay_out(picture)) {
    write_head(format, output);
    write_texts();
    write_legend();
    for (std::size_t i = 0; i < picture_.panels.size(); ++i) write_panel(i);
    line("unset multiplot");
    line("unset output");
  }
  std::string take() { return std::move(text_); }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  // Screen coordinates are fractions, upwards from the lower left corner.
  std::string across(double pixels) const { return fmt::format("{:.5f}", pixels / layout_.width); }
  std::string up(double pixels) const { return fmt::format("{:.5f}", 1 - pixels / layout_.height); }
  std::string at(double x, double y) const { return fmt::format("screen {},screen {}", across(x), up(y)); }

  void write_head(PictureFormat format, const std::string& output) {
    line("# Draw with: gnuplot -d THIS_FILE");
    line("set encoding utf8");
    if (format == PictureFormat::svg) {
      line(
          "set terminal svg noenhanced size {},{} font 'Helvetica,Arial,NanumGothic,Noto Sans CJK KR,sans-serif,{}' "
          "background '#FFFFFF'",
          layout_.width, layout_.height, kFontSize);
    } else {
      line(
          "set terminal pngcairo noenhanced size {},{} font 'NanumGothic,{}' background '#FFFFFF' fontscale 1.5 "
          "linewidth 2 pointscale 2",
          2 * layout_.width, 2 * layout_.height, kFontSize);
    }
    line("set output {}", gnuplot_quoted(output));
    line("set multiplot");
    line("unset key");
    line("set border 3 linecolor '{}' linewidth 0.8", kPale);
    line("set tics nomirror scale 0.5 textcolor '{}' front", kInk);
    line("set grid ytics linecolor '#DDDDDD' linewidth 0.6 linetype 1 dashtype solid");
  }

  void write_label(const std::string& text, const std::string& place, const std::string& more) {
    line("set label {} at {} {}", gnuplot_quoted(text), place, more);
  }

  void write_texts() {
    for (std::size_t i = 0; i < layout_.title.size(); ++i)
      write_label(layout_.title[i],
                  at(layout_.width / 2.0, layout_.title_y + static_cast<double>(i) * (kTitleSize + 5)),
                  fmt::format("center font ',{}' textcolor '{}'", kTitleSize, kInk));
    for (std::size_t i = 0; i < layout_.caption.size(); ++i)
      write_label(layout_.caption[i], at(12, layout_.caption_y + static_cast<double>(i) * (kCaptionSize + 4)),
                  fmt::format("left font ',{}' textcolor '{}'", kCaptionSize, kPale));
  }

  void write_sample(double x, double y, double width, const std::string& color_name, const std::string& dashes) {
    line("set arrow from {} to {} nohead linewidth 2 linecolor '{}' dashtype {}", at(x, y), at(x + width, y),
         color_name, dashes);
  }

  void write_legend() {
    for (const LegendEntry& entry : layout_.legend) {
      if (entry.has_line) {
        write_sample(entry.x, entry.y, kSampleWidth, entry.tone.color, dash(entry.tone));
        // gnuplot 5.4 makes neighbors of one color one SVG path, with the dashes of the first. A white one parts them.
        write_sample(entry.x - 4, entry.y, 1, "#FFFFFF", "solid");
      }
      line("set label '' at {} point pointtype {} pointsize 0.8 linecolor '{}'",
           at(entry.x + kSampleWidth / 2, entry.y), point_type(entry.tone), entry.tone.color);
      write_label(entry.name, at(entry.x + kSampleWidth + 6, entry.y), fmt::format("left textcolor '{}'", kInk));
    }
  }

  void write_panel(std::size_t index) {
    const PicturePanel& panel = picture_.panels[index];
    const Box& box = layout_.panels[index];
    line("\n# panel {}", index + 1);
    line("set lmargin at screen {}", across(box.left));
    line("set rmargin at screen {}", across(box.right));
    line("set tmargin at screen {}", up(box.top));
    line("set bmargin at screen {}", up(box.bottom));
    if (!panel.title.empty())
      write_label(panel.title, at((box.left + box.right) / 2, box.top - 10),
                  fmt::format("center textcolor '{}'", kInk));
    write_axes(panel, index);
    for (const PictureMark& mark : panel.marks) write_mark(mark, panel.sideways);
    if (panel.heat)
      write_heat(*panel.heat, index);
    else
      write_series(panel, index);
    line("unset label");
    line("unset arrow");
    line("unset object");
  }

  // -- axes

  void write_axes(const PicturePanel& panel, std::size_t index) {
    const char* x = panel.sideways ? "y" : "x";
    const char* y = panel.sideways ? "x" : "y";
    const bool shows_x = panel.sideways ? layout_.is_leftmost[index] : layout_.is_lowest[index];
    const bool shows_y = panel.sideways ? layout_.is_lowest[index] : layout_.is_leftmost[index];
    write_axis(x, panel.x, range_of_x(panel), shows_x);
    write_axis(y, panel.y, range_of_y(panel), shows_y);
    if (panel.sideways) line("set grid noytics xtics");
    if (panel.heat) line("set grid noytics");
  }

  // Upright axes are alike in all panels of a row, and have numbers in the first.
  void write_axis(const std::string& name, const PictureAxis& axis, const Range& range, bool shows_label) {
    if (axis.log)
      line("set logscale {}", name);
    else
      line("unset logscale {}", name);
    line("set {}range [{}:{}]", name, range.low, range.high);
    line("set {}label {} offset 0,{} textcolor '{}'", name, gnuplot_quoted(shows_label ? axis.label : ""),
         name == "x" ? "0.4" : "0", kInk);
    const char* format = name == "x" || shows_label ? "%g" : "";
    line("set format {} '{}'", name, format);
    if (axis.ticks.empty()) {
      line("set {}tics autofreq", name);
      return;
    }
    std::string ticks;
    for (const auto& [place, label] : axis.ticks)
      ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", gnuplot_quoted(*format == 0 ? "" : label), place);
    line("set {}tics ({})", name, ticks);
  }

  static Range range_of_x(const PicturePanel& panel) {
    Range range;
    for (const PictureSeries& series : panel.series)
      for (const MeanPoint& point : series.means) range.include(point.x, panel.x.log);
    return completed(range, panel.x, 0);
  }

  // With room at the top, where marks are named.
  static Range range_of_y(const PicturePanel& panel) {
    Range range;
    for (const PictureSeries& series : panel.series) {
      for (const MeanPoint& point : series.means)
        for (const double value : {point.mean, point.low, point.high}) range.include(value, panel.y.log);
      for (const std::vector<Point>& seed : series.seeds)
        for (const Point& point : seed) range.include(point.y, panel.y.log);
    }
    for (const PictureMark& mark : panel.marks)
      if (mark.form != PictureMark::Form::span) range.include(mark.from, panel.y.log);
    return completed(range, panel.y, 0.08);
  }

  static Range completed(Range range, const PictureAxis& axis, double room) {
    if (!(range.low <= range.high)) range = axis.log ? Range{0.1, 1} : Range{0, 1};
    if (axis.log) {
      const double factor = std::max(std::pow(range.high / range.low, room), 1 + room);
      range.low /= factor;
      range.high *= factor * (1 + room);
    } else {
      double width = range.high - range.low;
      if (width == 0) width = range.high == 0 ? 1 : std::abs(range.high) * 0.1;
      range.low -= width * room / 2;
      range.high += width * room;
      if (range.low == range.high) range.high += width;
    }
    if (axis.low) range.low = *axis.low;
    if (axis.high) range.high = *axis.high;
    return range;
  }

  // -- marks

  void write_mark(const PictureMark& mark, bool sideways) {
    if (mark.form != PictureMark::Form::span) {
      const std::string along = sideways ? fmt::format("first {0},graph 0 to first {0},graph 1", mark.from)
                                         : fmt::format("graph 0,first {0} to graph 1,first {0}", mark.from);
      // Of two colors: see write_legend for what gnuplot makes of neighbors of one.
      const bool is_level = mark.form == PictureMark::Form::level;
      line("set arrow from {} nohead linewidth 1.2 linecolor '{}' dashtype {} back", along, is_level ? kPale : kInk,
           is_level ? "(2,3)" : "(6,4)");
      return;
    }
    line(
        "set object rectangle from first {},graph 0 to first {},graph 1 behind fillcolor '#F0F0F0' fillstyle solid "
        "noborder",
        mark.from, mark.to);
    write_label(mark.label, fmt::format("first {},graph 0.965", (mark.from + mark.to) / 2),
                fmt::format("center font ',{}' textcolor '{}'", kCaptionSize, kPale));
  }

  // -- data

  static std::string name_of(std::size_t panel, std::size_t series, const char* part) {
    return fmt::format("${}_{}_{}", part, panel + 1, series + 1);
  }

  void write_series(const PicturePanel& panel, std::size_t index) {
    std::vector<std::string> bands, seeds, means;
    for (std::size_t k = 0; k < panel.series.size(); ++k) {
      const PictureSeries& series = panel.series[k];
      if (series.means.empty()) continue;
      const std::string mean = name_of(index, k, "mean"), seed = name_of(index, k, "seeds");
      write_means(mean, series);
      if (!series.seeds.empty()) {
        write_seeds(seed, series);
        seeds.push_back(seeds_plot(seed, series, panel.sideways));
      }
      const bool is_band = series.form != PictureSeries::Form::bars;
      if (is_band && series.means.size() > 1 && !series.seeds.empty())
        bands.push_back(
            fmt::format("{} using 1:3:4 with filledcurves fillcolor '{}' fillstyle transparent solid 0.2 "
                        "noborder",
                        mean, series.tone.color));
      for (std::string& plot : mean_plots(mean, series, panel.sideways)) means.push_back(std::move(plot));
    }
    std::vector<std::string> plots = std::move(bands);
    std::ranges::move(seeds, std::back_inserter(plots));
    std::ranges::move(means, std::back_inserter(plots));
    if (plots.empty()) plots.push_back("NaN with lines");
    line("plot " + joined(plots, ", \\\n     "));
  }

  void write_means(const std::string& name, const PictureSeries& series) {
    line("{} << EOD", name);
    for (const MeanPoint& point : series.means) line("{} {} {} {}", point.x, point.mean, point.low, point.high);
    line("EOD");
  }

  void write_seeds(const std::string& name, const PictureSeries& series) {
    line("{} << EOD", name);
    for (std::size_t i = 0; i < series.seeds.size(); ++i) {
      if (i > 0) line("");  // ends a line
      for (const Point& point : series.seeds[i]) line("{} {}", point.x, point.y);
    }
    line("EOD");
  }

  static std::string seeds_plot(const std::string& data, const PictureSeries& series, bool sideways) {
    if (series.form == PictureSeries::Form::curve)
      return fmt::format("{} using 1:2 with lines linewidth 0.5 linecolor '{}'", data, color(series.tone, 0x90));
    const double size = series.form == PictureSeries::Form::dots ? 0.22 : 0.4;
    return fmt::format("{} using {} with points pointtype 7 pointsize {} linecolor '{}'", data,
                       sideways ? "2:1" : "1:2", size, color(series.tone, 0x80));
  }

  static std::vector<std::string> mean_plots(const std::string& data, const PictureSeries& series, bool sideways) {
    const std::string look = fmt::format("linewidth 2 linecolor '{}'", series.tone.color);
    const std::string marker = fmt::format("pointtype {} pointsize {}", point_type(series.tone), 0.8);
    std::vector<std::string> plots;
    if (series.form == PictureSeries::Form::bars) {
      if (series.joined)
        plots.push_back(fmt::format("{} using 1:2 with lines {} dashtype {}", data, look, dash(series.tone)));
      plots.push_back(fmt::format("{} using {} {} linewidth 1.2 linecolor '{}'", data,
                                  sideways ? "2:1:3:4 with xerrorbars" : "1:2:3:4 with yerrorbars", marker,
                                  series.tone.color));
      return plots;
    }
    // Some eight markers on a curve, so that it is known without its color.
    const std::size_t interval = std::max<std::size_t>(1, series.means.size() / 8);
    plots.push_back(fmt::format("{} using 1:2 with linespoints {} dashtype {} {} pointinterval {}", data, look,
                                dash(series.tone), marker, interval));
    return plots;
  }

  void write_heat(const HeatMap& heat, std::size_t index) {
    write_color_scale(heat, layout_.color_scales[index],
                      index % layout_.columns + 1 == layout_.columns || index + 1 == picture_.panels.size());
    const std::string name = fmt::format("$heat_{}", index + 1);
    line("{} << EOD", name);
    for (std::size_t row = 0; row < heat.rows; ++row) {
      std::string values;
      for (std::size_t column = 0; column < heat.columns; ++column)
        values += fmt::format("{}{:.6g}", column == 0 ? "" : " ", heat.values[row * heat.columns + column]);
      line(values);
    }
    line("EOD");
    line("plot {} matrix with image", name);
  }

  // Viridis (van der Walt and Smith 2015): even steps of lightness, readable without color.
  void write_color_scale(const HeatMap& heat, const Box& box, bool is_last) {
    Range range;
    for (const double value : heat.values) range.include(value, false);
    if (!(range.low < range.high)) range = {range.low - 0.5, range.low + 0.5};
    line(
        "set palette defined (0 '#440154', 0.125 '#472D7B', 0.25 '#3B528B', 0.375 '#2C728E', 0.5 '#21918C', 0.625 "
        "'#28AE80', 0.75 '#5EC962', 0.875 '#ADDC30', 1 '#FDE725')");
    line("set cbrange [{}:{}]", range.low, range.high);
    line("set cblabel {} textcolor '{}'", gnuplot_quoted(is_last ? picture_.heat_label : ""), kInk);
    line("set colorbox vertical user origin {} size {},{} noborder", at(box.left, box.bottom),
         across(box.right - box.left), fmt::format("{:.5f}", (box.bottom - box.top) / layout_.height));
  }

  const Picture& picture_;
  const PictureLayout layout_;
  std::string text_;
};

}  // namespace

std::string gnuplot_script(const Picture& picture, PictureFormat format, const std::string& output) {
  return ScriptWriter(picture, format, output).take();
}

std::string gnuplot_quoted(std::string_view text) {
  constexpr char32_t replacement = 0xFFFD;
  std::string result = "'";
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t start = offset;
    const char32_t code_point = next_code_point(text, offset);
    if (code_point == '\'')
      result += "''";
    else if (code_point == '\n')
      result += "'.\"\\n\".'";
    else if (code_point < 0x20 || code_point == 0x7F)
      result += ' ';
    else if (code_point == replacement)
      result += "\xEF\xBF\xBD";
    else
      result += text.substr(start, offset - start);
  }
  return result + "'";
}

}  // namespace jari
