#pragma once
// Which runs a picture shows, and how they are told apart: a panel for each value of the further keys, in it a curve
// for each value of the first.

#include <string>
#include <vector>

#include "framework/report/picture_tones.hpp"
#include "framework/report/plot.hpp"
#include "framework/report/run_collection.hpp"

namespace jari {

// The runs of one curve: one for each seed.
struct PlotCell {
  std::string label;  // "rel (unseen=clamp)"; "" where nothing varies
  Tone tone;
  std::vector<const CollectedRun*> runs;
  std::vector<std::string> keys = {};  // one display value for each column of the selection
};

struct PlotGroup {
  std::string title;  // "width = 64"; "" where one panel shows all
  std::vector<PlotCell> cells;
};

struct PlotSelection {
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> columns;  // paths of the keys that tell cells apart
  RunCollection collection;          // what the cells point into
  std::vector<PlotGroup> groups;
  std::vector<std::string> notes;

  std::size_t most_seeds() const;
  std::size_t fewest_seeds() const;
};

// Panels and curves beyond these can not be told apart by people.
inline constexpr std::size_t kMostPanels = 12, kMostCurves = 24;

PlotSelection select_runs(const std::vector<std::filesystem::path>& paths, const PlotOptions& options);

// SpecError if there are more than kMostPanels.
void check_panel_count(std::size_t panels, const PlotSelection& selection);

// A number of a run's resolved spec; nothing if it lacks the key.
std::optional<std::int64_t> integer_of(const CollectedRun& run, const std::string& path);

// The number that all runs of a group agree on.
std::optional<std::int64_t> common_integer(const PlotGroup& group, const std::string& path);

}  // namespace jari
