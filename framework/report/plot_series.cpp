#include "framework/report/plot_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/report/statistics.hpp"

namespace jari {
namespace {

// Of a whole picture.
constexpr std::size_t kMeanPoints = 1500, kSeedPoints = 1800, kMostDots = 1000;

MeanPoint mean_point(double x, const std::vector<double>& values) {
  const Statistics statistics = summarize(values);
  const Interval interval = statistics.interval.value_or(Interval{statistics.mean, statistics.mean});
  return {x, statistics.mean, interval.low, interval.high};
}

MeanPoint geometric_mean_point(double x, std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  const MeanPoint point = mean_point(x, values);
  return {x, std::exp(point.mean), std::exp(point.low), std::exp(point.high)};
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
  const SpecNode* type = run.spec->find_path("task.type");
  return type != nullptr && std::ranges::find(kTasks, type->text) != std::end(kTasks);
}

// Dots that lie on one another, as those of accuracy 1, are drawn once.
void drop_hidden_dots(PictureSeries& series) {
  std::set<std::pair<double, double>> drawn;
  for (SeedPoints& seed : series.seeds)
    std::erase_if(seed, [&drawn](const Point& point) { return !drawn.emplace(point.x, point.y).second; });
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }
bool is_accuracy(const std::string& metric) { return last_part(metric).starts_with("accuracy"); }
bool is_loss(const std::string& metric) { return last_part(metric).starts_with("loss"); }

// Why an analysis of one of these types had nothing to look at; "" if there is none, or it does not say.
std::string reason_of(const CollectedRun& run, const std::vector<std::string>& analysis_types) {
  const RunReader reader(run.summary.path);
  for (const std::string& analysis : reader.analyses()) {
    const SpecNode* type = run.spec->find_path("analyses." + analysis + ".type");
    const bool is_asked = type != nullptr && std::ranges::find(analysis_types, type->text) != analysis_types.end();
    if (const std::string reason = reader.skipped(analysis); is_asked && !reason.empty()) return reason;
  }
  return "";
}

}  // namespace

PictureSeries series_of(const PlotCell& cell, const std::vector<SeedPoints>& seeds, PictureSeries::Form form,
                        bool log) {
  std::map<double, std::vector<double>> values;
  PictureSeries series{cell.label, cell.tone, form, /*joined=*/true, {}, {}};
  for (const SeedPoints& points : seeds) {
    SeedPoints drawn;
    std::ranges::copy_if(points, std::back_inserter(drawn),
                         [log](const Point& point) { return std::isfinite(point.y) && (!log || point.y > 0); });
    for (const Point& point : drawn) values[point.x].push_back(point.y);
    if (seeds.size() > 1) series.seeds.push_back(std::move(drawn));
  }
  for (const auto& [x, of_x] : values)
    series.means.push_back(log ? geometric_mean_point(x, of_x) : mean_point(x, of_x));
  return series;
}

std::vector<SeedPoints> points_of(const PlotCell& cell,
                                  const std::function<std::optional<SeedPoints>(const CollectedRun&)>& read) {
  std::vector<SeedPoints> seeds;
  for (const CollectedRun* run : cell.runs)
    if (auto points = read(*run)) seeds.push_back(std::move(*points));
  return seeds;
}

void thin_out(Picture& picture) {
  std::size_t curves = 0, seeds = 0, dots = 0;
  for (const PicturePanel& panel : picture.panels) {
    for (const PictureSeries& series : panel.series) {
      ++curves;
      seeds += series.seeds.size();
      if (series.form == PictureSeries::Form::dots)
        for (const SeedPoints& seed : series.seeds) dots += seed.size();
    }
  }
  const std::size_t of_mean = std::clamp<std::size_t>(kMeanPoints / std::max<std::size_t>(1, curves), 50, 300);
  const std::size_t of_seed = std::clamp<std::size_t>(kSeedPoints / std::max<std::size_t>(1, seeds), 25, 300);
  for (PicturePanel& panel : picture.panels) {
    for (PictureSeries& series : panel.series) {
      if (series.form == PictureSeries::Form::dots && dots > kMostDots) series.form = PictureSeries::Form::curve;
      keep(series.means, of_mean, [](const MeanPoint& point) { return point.mean; });
      if (series.form == PictureSeries::Form::dots) drop_hidden_dots(series);
      if (series.form != PictureSeries::Form::curve) continue;
      for (SeedPoints& seed : series.seeds) keep(seed, of_seed, [](const Point& point) { return point.y; });
    }
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
      if (mark.form != PictureMark::Form::span) include(panel, mark.from);
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

std::string caption_of(const PlotSelection& selection, const Picture& picture) {
  const std::size_t fewest = selection.fewest_seeds(), most = selection.most_seeds();
  const std::string n = fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most);
  if (picture.panels.front().heat) return most == 1 ? "" : fmt::format("means of {} seeds", n);
  std::string caption = "one seed";
  if (most > 1) {
    const bool log = picture.panels.front().y.log;
    const std::string means = log ? fmt::format("geometric means of {} seeds", n) : fmt::format("means of {} seeds", n);
    const char* intervals = log ? "their 95 % t-intervals (of mean logarithms)" : "their 95 % t-intervals";
    switch (picture.panels.front().series.front().form) {
      case PictureSeries::Form::curve:
        caption = fmt::format("lines: {}; bands: {}; thin lines: seeds", means, intervals);
        break;
      case PictureSeries::Form::dots:
        caption = fmt::format("lines: {}; bands: {}; dots: seeds", means, intervals);
        break;
      case PictureSeries::Form::bars:
        caption = fmt::format("marks: {}; bars: {}; dots: seeds", means, intervals);
        break;
    }
  }
  const auto add_lines = [&](PictureMark::Form form, const char* name) {
    std::vector<std::string> labels;
    for (const PicturePanel& panel : picture.panels)
      for (const PictureMark& mark : panel.marks)
        if (mark.form == form && std::ranges::find(labels, mark.label) == labels.end()) labels.push_back(mark.label);
    if (!labels.empty()) caption += fmt::format("; {}: {}", name, joined(labels, " or "));
  };
  add_lines(PictureMark::Form::level, "dotted line");
  add_lines(PictureMark::Form::baseline, "dashed line");
  return caption;
}

void MissingCells::add(const PlotCell& cell, const std::vector<std::string>& analysis_types) {
  const std::string reason = reason_of(*cell.runs.front(), analysis_types);
  const std::string label = cell.label.empty() ? "these runs" : cell.label;
  const auto known = std::ranges::find(labels_, reason, [](const auto& entry) { return entry.first; });
  if (known == labels_.end())
    labels_.push_back({reason, {label}});
  else if (std::ranges::find(known->second, label) == known->second.end())
    known->second.push_back(label);
}

void MissingCells::tell(bool nothing_is_left, std::vector<std::string>& notes) const {
  std::vector<std::string> texts;
  bool has_unknown = false;
  for (const auto& [reason, labels] : labels_) {
    texts.push_back(joined(labels) + (reason.empty() ? "" : ": " + reason));
    has_unknown = has_unknown || reason.empty();
  }
  if (texts.empty()) return;
  const std::string text = fmt::format("{} ({}){}", what_, joined(texts, "; "), has_unknown ? "; " + remedy_ : "");
  if (nothing_is_left) throw StoreError("no run has recorded " + text);
  notes.push_back("some runs have not recorded " + text);
}

}  // namespace jari
