#pragma once
// What a picture shows, without how it is drawn: panels with axes, curves with what the seeds gave and what they say
// together, marks, or a matrix as a heat map. `gnuplot_script` (picture_script.hpp) draws it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/report/picture_tones.hpp"

namespace jari {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

// The mean over the seeds at one x; low and high are the ends of its interval, or the mean itself where one seed is
// all.
struct MeanPoint {
  double x = 0, mean = 0, low = 0, high = 0;
  bool operator==(const MeanPoint&) const = default;
};

struct PictureSeries {
  enum class Form {
    curve,  // line of means, band of intervals, thin lines of seeds
    dots,   // line of means, band of intervals, a dot for each seed and x
    bars,   // at each x a mean with its interval as a bar, beside a dot for each seed
  };

  std::string name;  // in the legend; "" for none
  Tone tone;
  Form form = Form::curve;
  bool joined = true;                     // the means by a line
  std::vector<MeanPoint> means;           // by x
  std::vector<std::vector<Point>> seeds;  // each by x; empty where there is one seed
};

// A matrix drawn as colors; row 0 at the top.
struct HeatMap {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;  // row-major
};

struct PictureAxis {
  std::string label;  // with unit: "position (tokens)"
  bool log = false;
  std::optional<double> low, high;                    // ends; otherwise from the data
  std::vector<std::pair<double, std::string>> ticks;  // otherwise the drawing program's own
};

struct PictureMark {
  enum class Form {
    span,      // x from `from` to `to`, shaded, with its label in it
    level,     // y = from, dotted
    baseline,  // y = from, dashed
  };
  Form form = Form::span;
  double from = 0, to = 0;
  std::string label;  // lines are named by the caption, lest names hide curves
};

struct PicturePanel {
  std::string title;
  PictureAxis x, y;
  std::vector<PictureSeries> series;
  std::vector<PictureMark> marks;
  std::optional<HeatMap> heat;
  bool sideways = false;  // x upright with its first value at the top, y across: for categories with long names
};

struct Picture {
  std::string title;
  std::string caption;  // small, below: what dots, lines and bands mean, and n
  std::vector<PicturePanel> panels;
  std::string heat_label;  // of the color scales
  int width = 0, height = 0;
};

// Keeps at most about `limit` points of a curve, always its ends and, between them, the lowest and highest of each
// stretch: a thinned curve shows every spike. Indices in order.
std::vector<std::size_t> thinned(const std::vector<double>& values, std::size_t limit);

}  // namespace jari
