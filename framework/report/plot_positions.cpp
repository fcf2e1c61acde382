// Pictures by position in the sequence, and by the offset between two positions.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/report/plot_kinds.hpp"
#include "framework/report/plot_series.hpp"

namespace jari {
namespace {

// Any array of numbers as f64.
std::vector<double> numbers_of(const RecordArray& array) {
  return std::visit(
      []<class T>(const std::vector<T>& values) -> std::vector<double> {
        if constexpr (std::is_same_v<T, std::string>)
          return {};
        else
          return {values.begin(), values.end()};
      },
      array.values);
}

SeedPoints counted_points(const RecordArray& array, double first) {
  SeedPoints points;
  for (const double value : numbers_of(array)) points.push_back({first + static_cast<double>(points.size()), value});
  return points;
}

// -- arrays by position

std::vector<std::string> entries_with(const PlotSelection& selection, const std::string& array) {
  std::vector<std::string> entries;
  const std::string ending = "/" + array;
  for (const CollectedRun& run : selection.collection.runs) {
    for (std::string path : RunReader(run.summary.path).arrays("evaluate")) {
      if (!path.ends_with(ending)) continue;
      path.resize(path.size() - ending.size());
      if (std::ranges::find(entries, path) == entries.end()) entries.push_back(path);
    }
  }
  return entries;
}

std::vector<std::string> chosen_entries(const PlotSelection& selection, const PlotOptions& options) {
  const std::vector<std::string> entries = entries_with(selection, options.what);
  if (entries.empty())
    throw StoreError(
        fmt::format("no run has {}; it is recorded for each entry of `evaluate:`: give the spec one and "
                    "run it again",
                    options.what));
  for (const std::string& name : options.evaluate)
    if (std::ranges::find(entries, name) == entries.end())
      fail_unknown_name("--evaluate: no run has the entry", name, entries, "entries: " + joined(entries));
  return options.evaluate.empty() ? entries : options.evaluate;
}

// Positions 0 to trained - 1; bounds between positions.
void mark_trained_positions(const PlotGroup& group, PicturePanel& panel) {
  if (const auto trained = common_integer(group, "train.length"))
    panel.marks.push_back({PictureMark::Form::span, -0.5, static_cast<double>(*trained) - 0.5, "trained"});
}

PicturePanel position_panel(const PlotGroup& group, const std::string& entry, const PlotOptions& options) {
  const std::string& what = options.what;
  PicturePanel panel;
  panel.x.label = "position (tokens before it)";
  panel.y = axis_of_metric(what.substr(0, what.find('_')));
  panel.x.low = -0.5;
  double last = 0;
  for (const PlotCell& cell : group.cells) {
    const auto seeds = points_of(cell, [&](const CollectedRun& run) -> std::optional<SeedPoints> {
      const auto array = RunReader(run.summary.path).array("evaluate/" + entry + "/" + what);
      if (!array) return std::nullopt;
      SeedPoints points = counted_points(*array, 0);
      last = std::max(last, static_cast<double>(points.size()) - 1);
      return points;
    });
    panel.series.push_back(series_of(cell, seeds, PictureSeries::Form::dots, options.log));
  }
  panel.x.high = last + 0.5;
  mark_trained_positions(group, panel);
  if (!panel.marks.empty()) panel.marks.back().to = std::min(panel.marks.back().to, *panel.x.high);
  if (const auto chance = chance_mark(group, what)) panel.marks.push_back(*chance);
  return panel;
}

// -- bias

// The bias of each head by the offset of the key from the query.
using HeadBias = std::vector<SeedPoints>;

// What the analysis `position_bias` found: `offset` [offset], `bias_by_offset` [head, offset].
std::optional<HeadBias> analyzed_bias(const RunReader& run) {
  for (const std::string& analysis : run.analyses()) {
    const auto offset = run.array("analyses/" + analysis + "/offset");
    const auto bias = run.array("analyses/" + analysis + "/bias_by_offset");
    if (!offset || !bias || bias->shape.size() != 2) continue;
    const std::vector<double> offsets = numbers_of(*offset), values = numbers_of(*bias);
    HeadBias heads(static_cast<std::size_t>(bias->shape[0]));
    for (std::size_t i = 0; i < values.size(); ++i)
      heads[i / offsets.size()].push_back({offsets[i % offsets.size()], values[i]});
    return heads;
  }
  return std::nullopt;
}

// A trained table [offset] or [head, offset], offset 0 in its middle.
std::optional<HeadBias> table_bias(const RunReader& run) {
  for (const std::string& path : run.arrays("weights")) {
    const auto array = run.array("weights/" + path);
    if (array->axes.empty() || array->axes.back() != "offset" || array->shape.size() > 2) continue;
    const std::vector<double> values = numbers_of(*array);
    const auto size = static_cast<std::size_t>(array->shape.back());
    HeadBias heads(values.size() / size);
    for (std::size_t i = 0; i < values.size(); ++i)
      heads[i / size].push_back({static_cast<double>(i % size) - static_cast<double>(size / 2), values[i]});
    return heads;
  }
  return std::nullopt;
}

std::optional<HeadBias> bias_of(const CollectedRun& run) {
  const RunReader reader(run.summary.path);
  if (auto bias = analyzed_bias(reader)) return bias;
  return table_bias(reader);
}

struct CellBias {
  const PlotCell* cell;
  std::vector<HeadBias> seeds;

  std::size_t heads() const { return seeds.front().size(); }
  std::vector<SeedPoints> of_head(std::size_t head) const {
    std::vector<SeedPoints> points;
    for (const HeadBias& seed : seeds)
      if (head < seed.size()) points.push_back(seed[head]);
    return points;
  }
};

std::vector<CellBias> biases_of(const PlotGroup& group, MissingCells& missing) {
  std::vector<CellBias> biases;
  for (const PlotCell& cell : group.cells) {
    CellBias found{&cell, {}};
    for (const CollectedRun* run : cell.runs)
      if (auto bias = bias_of(*run)) found.seeds.push_back(std::move(*bias));
    if (found.seeds.empty())
      missing.add(cell, {"position_bias"});
    else
      biases.push_back(std::move(found));
  }
  return biases;
}

PicturePanel empty_bias_panel(const PlotGroup& group, const std::string& title) {
  PicturePanel panel;
  panel.title = title;
  panel.x.label = "offset of the key from the query (tokens)";
  panel.y.label = "bias (added to the score)";
  if (const auto trained = common_integer(group, "train.length")) {
    const double reach = static_cast<double>(*trained) - 0.5;
    panel.marks.push_back({PictureMark::Form::span, -reach, reach, "trained"});
  }
  return panel;
}

void fit_to_curves(PicturePanel& panel) {
  double low = 0, high = 0;
  for (const PictureSeries& series : panel.series) {
    if (series.means.empty()) continue;
    low = std::min(low, series.means.front().x);
    high = std::max(high, series.means.back().x);
  }
  panel.x.low = low - 0.5;
  panel.x.high = high + 0.5;
  for (PictureMark& mark : panel.marks) {
    mark.from = std::max(mark.from, *panel.x.low);
    mark.to = std::min(mark.to, *panel.x.high);
  }
}

// With one head a panel holds all curves; with several, a panel holds the heads of one curve.
void add_bias_panels(const PlotGroup& group, const std::vector<CellBias>& biases, bool log, Picture& picture) {
  const bool one_head = std::ranges::all_of(biases, [](const CellBias& bias) { return bias.heads() == 1; });
  if (one_head) {
    picture.panels.push_back(empty_bias_panel(group, group.title));
    for (const CellBias& bias : biases)
      picture.panels.back().series.push_back(series_of(*bias.cell, bias.of_head(0), PictureSeries::Form::curve, log));
    return;
  }
  for (const CellBias& bias : biases) {
    const std::string title = group.title.empty() ? bias.cell->label : group.title + ", " + bias.cell->label;
    picture.panels.push_back(empty_bias_panel(group, title));
    for (std::size_t head = 0; head < bias.heads(); ++head) {
      const PlotCell curve{fmt::format("head {}", head), ordinal_tone(head), bias.cell->runs};
      picture.panels.back().series.push_back(series_of(curve, bias.of_head(head), PictureSeries::Form::curve, log));
    }
  }
}

}  // namespace

Picture plot_by_position(PlotSelection& selection, const PlotOptions& options) {
  const std::vector<std::string> entries = chosen_entries(selection, options);
  Picture picture;
  for (const PlotGroup& group : selection.groups) {
    for (const std::string& entry : entries) {
      picture.panels.push_back(position_panel(group, entry, options));
      const std::string name = entries.size() > 1 ? entry : "";
      picture.panels.back().title =
          group.title.empty() || name.empty() ? group.title + name : group.title + ", " + name;
    }
  }
  check_panel_count(picture.panels.size(), selection);
  return picture;
}

Picture plot_bias(PlotSelection& selection, const PlotOptions& options) {
  Picture picture;
  MissingCells missing("a bias",
                       "add `analyses: {bias: {type: position_bias}}` to the spec and run it again; without it only a "
                       "trained table of offsets, as that of rel, can be drawn");
  for (const PlotGroup& group : selection.groups) {
    const std::vector<CellBias> biases = biases_of(group, missing);
    if (!biases.empty()) add_bias_panels(group, biases, options.log, picture);
  }
  missing.tell(picture.panels.empty(), selection.notes);
  check_panel_count(picture.panels.size(), selection);
  for (PicturePanel& panel : picture.panels) fit_to_curves(panel);
  return picture;
}

}  // namespace jari
