#include "framework/sweep/plot_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/sweep/statistics.hpp"

namespace jari {
namespace {

constexpr std::size_t kMeanPoints = 300, kSeedPoints = 4000, kFewestSeedPoints = 30;

MeanPoint mean_point(double x, const std::vector<double>& values) {
  const Statistics statistics = summarize(values);
  const Interval interval = statistics.interval.value_or(Interval{statistics.mean, statistics.mean});
  return {x, statistics.mean, interval.low, interval.high};
}

template <class T, class Value>
void keep(std::vector<T>& points, std::size_t limit, Value value) {
  std::vector<double> values;
  for (const T& point : points) values.push_back(value(point));
  std::vector<T> kept;
  for (const std::size_t i : thinned(values, limit)) kept.push_back(points[i]);
  points = std::move(kept);
}

// Tasks whose tokens are drawn uniformly, so that nobody can do worse than 1 / vocabulary for long.
bool draws_uniformly(const CollectedRun& run) {
  constexpr std::string_view kTasks[] = {"neighbor", "first_token", "last_token", "mirror"};
  const SpecNode* type = run.spec.find_path("task.type");
  return type != nullptr && std::ranges::find(kTasks, type->text) != std::end(kTasks);
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }
bool is_accuracy(const std::string& metric) { return last_part(metric).starts_with("accuracy"); }
bool is_loss(const std::string& metric) { return last_part(metric).starts_with("loss"); }

}  // namespace

PictureSeries series_of(const PlotCell& cell, const std::vector<SeedPoints>& seeds, PictureSeries::Form form) {
  std::map<double, std::vector<double>> values;
  PictureSeries series{cell.label, cell.tone, form, /*joined=*/true, {}, {}};
  for (const SeedPoints& points : seeds) {
    SeedPoints finite;
    std::ranges::copy_if(points, std::back_inserter(finite), [](const Point& point) { return std::isfinite(point.y); });
    for (const Point& point : finite) values[point.x].push_back(point.y);
    if (seeds.size() > 1) series.seeds.push_back(std::move(finite));
  }
  for (const auto& [x, of_x] : values) series.means.push_back(mean_point(x, of_x));
  return series;
}

std::vector<SeedPoints> points_of(const PlotCell& cell,
                                  const std::function<std::optional<SeedPoints>(const CollectedRun&)>& read) {
  std::vector<SeedPoints> seeds;
  for (const CollectedRun* run : cell.runs)
    if (auto points = read(*run)) seeds.push_back(std::move(*points));
  return seeds;
}

void thin_out(PicturePanel& panel) {
  std::size_t seeds = 0;
  for (const PictureSeries& series : panel.series) seeds += series.seeds.size();
  const std::size_t limit =
      std::clamp(kSeedPoints / std::max<std::size_t>(1, seeds), kFewestSeedPoints, kMeanPoints);
  for (PictureSeries& series : panel.series) {
    keep(series.means, kMeanPoints, [](const MeanPoint& point) { return point.mean; });
    for (SeedPoints& seed : series.seeds) keep(seed, limit, [](const Point& point) { return point.y; });
  }
}

void share_upright_axes(Picture& picture) {
  std::optional<double> low, high;
  const auto include = [&](const PicturePanel& panel, double y) {
    if (panel.y.log && y <= 0) return;
    low = std::min(low.value_or(y), y);
    high = std::max(high.value_or(y), y);
  };
  for (const PicturePanel& panel : picture.panels) {
    for (const PictureSeries& series : panel.series) {
      for (const MeanPoint& point : series.means)
        for (const double y : {point.mean, point.low, point.high}) include(panel, y);
      for (const SeedPoints& seed : series.seeds)
        for (const Point& point : seed) include(panel, point.y);
    }
    for (const PictureMark& mark : panel.marks)
      if (mark.form == PictureMark::Form::level) include(panel, mark.from);
  }
  if (picture.panels.size() < 2 || !low) return;
  const bool log = picture.panels.front().y.log;
  const double room = log ? std::pow(*high / *low, 0.08) : (*high - *low) * 0.08;
  for (PicturePanel& panel : picture.panels) {
    if (!panel.y.low) panel.y.low = log ? *low / room : *low - room / 2;
    if (!panel.y.high) panel.y.high = log ? *high * room : *high + room;
  }
}

PictureAxis axis_of_metric(const std::string& metric) {
  PictureAxis axis{metric, false, {}, {}, {}};
  std::string name = last_part(metric);
  std::ranges::replace(name, '_', ' ');
  if (is_loss(metric)) axis.label = name + " (nats per token)";
  if (!is_accuracy(metric)) return axis;
  axis.label = name + " (fraction correct)";
  axis.low = 0;
  axis.high = 1.1;  // above 1 there is room for the names of marks
  for (const char* tick : {"0", "0.2", "0.4", "0.6", "0.8", "1"}) axis.ticks.emplace_back(std::stod(tick), tick);
  return axis;
}

std::optional<PictureMark> chance_mark(const PlotGroup& group, const std::string& metric) {
  const std::optional<std::int64_t> vocabulary = common_integer(group, "task.vocabulary");
  const auto is_uniform = [](const PlotCell& cell) {
    return std::ranges::all_of(cell.runs, [](const CollectedRun* run) { return draws_uniformly(*run); });
  };
  if (!vocabulary || !std::ranges::all_of(group.cells, is_uniform)) return std::nullopt;
  const auto tokens = static_cast<double>(*vocabulary);
  if (is_accuracy(metric))
    return PictureMark{PictureMark::Form::level, 1 / tokens, 0, fmt::format("chance, 1/{}", *vocabulary)};
  if (is_loss(metric))
    return PictureMark{PictureMark::Form::level, std::log(tokens), 0, fmt::format("chance, ln {}", *vocabulary)};
  return std::nullopt;
}

std::string caption_of(const PlotSelection& selection, PictureSeries::Form form) {
  const std::size_t fewest = selection.fewest_seeds(), most = selection.most_seeds();
  if (most == 1) return "one seed";
  const std::string n = fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most);
  switch (form) {
    case PictureSeries::Form::curve:
      return fmt::format("lines: means of {} seeds; bands: 95 % t-intervals of the means; thin lines: seeds", n);
    case PictureSeries::Form::dots:
      return fmt::format("lines: means of {} seeds; bands: 95 % t-intervals of the means; dots: seeds", n);
    case PictureSeries::Form::bars:
      return fmt::format("marks: means of {} seeds; bars: 95 % t-intervals of the means; dots: seeds", n);
  }
  return "";
}

}  // namespace jari
