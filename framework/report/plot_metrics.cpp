// Pictures of metrics: over steps, at the end, by the length that was tested.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/report/compare.hpp"
#include "framework/report/plot_kinds.hpp"
#include "framework/report/plot_series.hpp"

namespace jari {
namespace {

std::vector<std::string> all_metrics(const PlotSelection& selection) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const CollectedRun& run : selection.collection.runs) {
    for (const MetricSummary& metric : run.summary.metrics) add(metric.name);
    for (const auto& [name, number] : run.summary.numbers) add(name);
  }
  return names;
}

void check_metric(const PlotSelection& selection, const char* option, const std::string& metric) {
  const std::vector<std::string> metrics = all_metrics(selection);
  if (std::ranges::find(metrics, metric) == metrics.end())
    fail_unknown_name(fmt::format("{}: no run has the metric", option), metric, metrics, "metrics: " + joined(metrics));
}

std::optional<SeedPoints> steps_of(const CollectedRun& run, const std::string& metric) {
  const auto series = RunReader(run.summary.path).metric(metric);
  if (!series) return std::nullopt;
  SeedPoints points;
  for (std::size_t i = 0; i < series->steps.size(); ++i)
    points.push_back({static_cast<double>(series->steps[i]), series->values[i]});
  return points;
}

std::string metric_of(const PlotOptions& options) { return options.what == "loss" ? "train/loss" : options.what; }

void check_several_steps(const Picture& picture, const std::string& metric) {
  for (const PicturePanel& panel : picture.panels)
    for (const PictureSeries& series : panel.series)
      if (series.means.size() > 1) return;
  throw SpecError(
      fmt::format("--what {0}: it was measured at one step only, so there is no curve; set "
                  "train.evaluate_every, or draw its last value with --what final --metric {0}",
                  metric));
}

// "evaluate/extrapolated/accuracy" -> "extrapolated"; "" for other metrics.
std::string entry_of(const std::string& metric) {
  const std::string_view prefix = "evaluate/";
  const std::size_t slash = metric.rfind('/');
  if (!metric.starts_with(prefix) || slash <= prefix.size()) return "";
  return metric.substr(prefix.size(), slash - prefix.size());
}

void check_entries(const PlotOptions& options, const std::vector<std::string>& entries) {
  for (const std::string& name : options.evaluate)
    if (std::ranges::find(entries, name) == entries.end())
      fail_unknown_name("--evaluate: no run has the entry", name, entries, "entries: " + joined(entries));
}

// Metrics that end in `/<name>`, of the entries that are asked for.
std::vector<std::string> metrics_of_entries(const PlotSelection& selection, const PlotOptions& options,
                                            const std::string& name) {
  std::vector<std::string> metrics, entries;
  for (const std::string& metric : all_metrics(selection)) {
    const std::string entry = entry_of(metric);
    if (entry.empty() || !metric.ends_with("/" + name)) continue;
    entries.push_back(entry);
    const bool is_asked =
        options.evaluate.empty() || std::ranges::find(options.evaluate, entry) != options.evaluate.end();
    if (is_asked) metrics.push_back(metric);
  }
  if (entries.empty()) {
    const std::vector<std::string> all = all_metrics(selection);
    fail_unknown_name("no evaluate entry has the metric", name, all, "metrics: " + joined(all));
  }
  check_entries(options, entries);
  return metrics;
}

std::string joined_titles(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ", " + second;
}

// -- last values, by curve

PicturePanel final_panel(const PlotGroup& group, const std::string& metric, bool log) {
  PicturePanel panel;
  panel.sideways = true;
  panel.y = axis_of_metric(metric);
  const auto count = static_cast<double>(group.cells.size());
  panel.x.low = count - 0.5;  // the first at the top
  panel.x.high = -0.5;
  for (const PlotCell& cell : group.cells) {
    const auto place = static_cast<double>(panel.series.size());
    const auto seeds = points_of(cell, [&](const CollectedRun& run) -> std::optional<SeedPoints> {
      const std::optional<double> value = run.summary.find(metric);
      return !value ? std::nullopt : std::optional(SeedPoints{{place, *value}});
    });
    PictureSeries series = series_of(cell, seeds, PictureSeries::Form::bars, log);
    for (SeedPoints& seed : series.seeds)
      for (Point& point : seed) point.x += 0.3;  // below the mark of the mean
    series.joined = false;
    series.name.clear();
    panel.x.ticks.emplace_back(place, cell.label);
    panel.series.push_back(std::move(series));
  }
  if (const auto chance = chance_mark(group, metric)) panel.marks.push_back(*chance);
  return panel;
}

// The sweep's baseline as `jari compare` finds it, whatever else was left out of the picture.
std::vector<std::vector<std::string>> baseline_keys(const PlotSelection& selection, const std::string& metric) {
  std::vector<std::vector<std::string>> keys;
  if (selection.columns.empty()) return keys;
  const Comparison comparison = compare_runs(selection.paths, {.by = selection.columns, .metrics = {metric}});
  for (const ComparisonCell& cell : comparison.cells)
    if (cell.is_baseline) keys.push_back(cell.keys);
  return keys;
}

void mark_baseline(const PlotGroup& group, const std::vector<std::vector<std::string>>& keys, PicturePanel& panel) {
  if (group.cells.size() < 2) return;
  for (std::size_t k = 0; k < group.cells.size(); ++k) {
    const PlotCell& cell = group.cells[k];
    if (panel.series[k].means.empty() || std::ranges::find(keys, cell.keys) == keys.end()) continue;
    panel.marks.push_back(
        {PictureMark::Form::baseline, panel.series[k].means.front().mean, 0, "mean of the baseline, " + cell.label});
  }
}

// -- last values, by length

struct TestedLength {
  std::string metric;
  std::int64_t length = 0;
};

std::vector<TestedLength> lengths_of(const CollectedRun& run, const std::vector<std::string>& metrics) {
  std::vector<TestedLength> lengths;
  for (const std::string& metric : metrics) {
    const std::string entry = entry_of(metric);
    const auto length = integer_of(run, "evaluate." + entry + ".length");
    if (!length) continue;
    const auto same = std::ranges::find(lengths, *length, &TestedLength::length);
    if (same != lengths.end())
      throw SpecError(
          fmt::format("--evaluate: the entries {} and {} both have length {}; name those to draw, e.g. "
                      "--evaluate {}",
                      entry_of(same->metric), entry, *length, entry));
    lengths.push_back({metric, *length});
  }
  std::ranges::sort(lengths, {}, &TestedLength::length);
  return lengths;
}

// Curves that lie on one another are moved apart sideways, and the dots of seeds to the right of the bar of their mean.
// `room` is what all of them may take: octaves on a logarithmic axis, tokens otherwise.
void dodge(PicturePanel& panel, double room) {
  const auto count = static_cast<double>(panel.series.size());
  const double pitch = room / count;
  for (std::size_t k = 0; k < panel.series.size(); ++k) {
    const double shift = pitch * (static_cast<double>(k) - (count - 1) / 2);
    const auto moved = [&](double x, double more) {
      return panel.x.log ? x * std::exp2(shift + more) : x + shift + more;
    };
    for (MeanPoint& point : panel.series[k].means) point.x = moved(point.x, 0);
    for (SeedPoints& seed : panel.series[k].seeds)
      for (Point& point : seed) point.x = moved(point.x, pitch * 0.35);
  }
}

PicturePanel length_panel(const PlotGroup& group, const std::vector<std::string>& metrics, const std::string& name,
                          bool log) {
  PicturePanel panel;
  panel.title = group.title;
  panel.y = axis_of_metric(name);
  panel.x.label = "length of the tested sequences (tokens)";
  std::set<std::int64_t> all;
  for (const PlotCell& cell : group.cells) {
    const auto seeds = points_of(cell, [&](const CollectedRun& run) -> std::optional<SeedPoints> {
      SeedPoints points;
      for (const auto& [metric, length] : lengths_of(run, metrics)) {
        if (const std::optional<double> value = run.summary.find(metric))
          points.push_back({static_cast<double>(length), *value});
        all.insert(length);
      }
      return points;
    });
    panel.series.push_back(series_of(cell, seeds, PictureSeries::Form::bars, log));
  }
  if (all.empty()) throw StoreError(fmt::format("no run of this picture has {} at any length", name));
  const auto shortest = static_cast<double>(*all.begin()), longest = static_cast<double>(*all.rbegin());
  const auto trained = common_integer(group, "train.length");
  const double start = trained ? std::min(shortest, static_cast<double>(*trained)) : shortest;
  panel.x.log = longest >= 4 * start;
  const double unit = panel.x.log ? 1 : longest - start + 1;
  const auto moved = [&](double x, double shift) { return panel.x.log ? x * std::exp2(shift) : x + shift * unit; };
  panel.x.low = moved(start, -0.35);
  panel.x.high = moved(longest, 0.35);
  for (const std::int64_t length : all) panel.x.ticks.emplace_back(length, std::to_string(length));
  dodge(panel, 0.4 * unit);
  if (trained)
    panel.marks.push_back(
        {PictureMark::Form::span, *panel.x.low, moved(static_cast<double>(*trained), 0.35), "trained"});
  if (const auto chance = chance_mark(group, name)) panel.marks.push_back(*chance);
  return panel;
}

}  // namespace

Picture plot_metric(PlotSelection& selection, const PlotOptions& options) {
  const std::string metric = metric_of(options);
  check_metric(selection, "--what", metric);
  Picture picture;
  for (const PlotGroup& group : selection.groups) {
    PicturePanel panel;
    panel.title = group.title;
    panel.x.label = "step";
    panel.x.low = 0;
    panel.y = axis_of_metric(metric);
    if (metric == "train/loss") panel.y.label = "training " + panel.y.label;
    for (const PlotCell& cell : group.cells)
      panel.series.push_back(series_of(cell,
                                       points_of(cell, [&](const CollectedRun& run) { return steps_of(run, metric); }),
                                       PictureSeries::Form::curve, options.log));
    if (const auto chance = chance_mark(group, metric)) panel.marks.push_back(*chance);
    picture.panels.push_back(std::move(panel));
  }
  check_several_steps(picture, metric);
  return picture;
}

Picture plot_final(PlotSelection& selection, const PlotOptions& options) {
  std::vector<std::string> metrics = {options.metric};
  if (options.metric.empty())
    metrics = metrics_of_entries(selection, options, "accuracy");
  else
    check_metric(selection, "--metric", options.metric);
  std::map<std::string, std::vector<std::vector<std::string>>> baselines;
  for (const std::string& metric : metrics) baselines[metric] = baseline_keys(selection, metric);
  Picture picture;
  for (const PlotGroup& group : selection.groups) {
    for (const std::string& metric : metrics) {
      picture.panels.push_back(final_panel(group, metric, options.log));
      mark_baseline(group, baselines.at(metric), picture.panels.back());
      const std::string entry = entry_of(metric);
      picture.panels.back().title = joined_titles(group.title, entry.empty() ? metric : entry);
    }
  }
  check_panel_count(picture.panels.size(), selection);
  return picture;
}

Picture plot_by_length(PlotSelection& selection, const PlotOptions& options) {
  const std::string usual = options.what == "loss_by_length" ? "loss" : "accuracy";
  const std::string name = options.metric.empty() ? usual : options.metric;
  const std::vector<std::string> metrics = metrics_of_entries(selection, options, name);
  Picture picture;
  for (const PlotGroup& group : selection.groups)
    picture.panels.push_back(length_panel(group, metrics, name, options.log));
  return picture;
}

}  // namespace jari
