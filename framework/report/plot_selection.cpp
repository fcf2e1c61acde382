#include "framework/report/plot_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"

namespace jari {
namespace {

// -- --only

struct Filter {
  std::string path;
  std::vector<std::string> values;
};

// The command line splits at commas: "model.position=rel,sin" comes as two. Within brackets a comma separates nothing:
// "rel (unseen=clamp, init=zeros)".
std::vector<Filter> parse_filters(const std::vector<std::string>& only) {
  std::vector<std::string> parts;
  int depth = 0;
  for (const std::string& part : only) {
    if (depth > 0)
      parts.back() += "," + part;
    else
      parts.push_back(part);
    for (const char letter : part)
      depth += (letter == '(' || letter == '[' || letter == '{')   ? 1
               : (letter == ')' || letter == ']' || letter == '}') ? -1
                                                                   : 0;
  }
  std::vector<Filter> filters;
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    const bool names_key = equals != std::string::npos && part.find_first_of("([{ ") > equals;
    if (names_key)
      filters.push_back({part.substr(0, equals), {part.substr(equals + 1)}});
    else if (!filters.empty())
      filters.back().values.push_back(part);
    else
      throw SpecError(fmt::format("--only '{}': expected KEY=VALUE, e.g. --only model.position=rel,sin", part));
  }
  return filters;
}

std::vector<std::string> distinct(const std::vector<std::string>& values) {
  std::vector<std::string> result;
  for (const std::string& value : values)
    if (std::ranges::find(result, value) == result.end()) result.push_back(value);
  return result;
}

// A block is meant by its type too: "rel" is every "rel (...)".
bool means(const std::string& asked, const std::string& value) {
  return asked == value || value.starts_with(asked + " (");
}

void apply(const Filter& filter, std::vector<CollectedRun>& runs) {
  const KeyColumn column = key_columns(runs, {filter.path}).front();
  for (const std::string& asked : filter.values) {
    const bool known = std::ranges::any_of(column.values, [&](const auto& value) { return means(asked, value); });
    const std::vector<std::string> values = distinct(column.values);
    if (!known) fail_unknown_name("--only: no run has " + filter.path, asked, values, "values: " + joined(values));
  }
  std::vector<CollectedRun> kept;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_asked =
        std::ranges::any_of(filter.values, [&](const std::string& asked) { return means(asked, column.values[i]); });
    if (is_asked) kept.push_back(std::move(runs[i]));
  }
  runs = std::move(kept);
}

// -- what makes curves, what makes panels

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// Curves are told apart by the first key that was asked for; else by the positional scheme; else by the key with most
// values.
std::size_t curve_column(const std::vector<KeyColumn>& columns, bool was_asked) {
  if (was_asked) return 0;
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (last_part(columns[k].path) == "position") return k;
  std::size_t most = 0;
  for (std::size_t k = 1; k < columns.size(); ++k)
    if (distinct(columns[k].values).size() > distinct(columns[most].values).size()) most = k;
  return most;
}

bool is_full_grid(const std::vector<KeyColumn>& columns, std::size_t cells) {
  std::size_t product = 1;
  for (const KeyColumn& column : columns) product *= distinct(column.values).size();
  return product == cells;
}

std::string list_keys(const std::vector<KeyColumn>& columns) {
  std::vector<std::string> texts;
  for (const KeyColumn& column : columns)
    texts.push_back(fmt::format("{} ({} values)", column.path, distinct(column.values).size()));
  return joined(texts);
}

// "rel, lr=0.1": for lists of trials, which form no grid. What is not set adds nothing.
std::string whole_label(const std::vector<KeyColumn>& columns, const std::vector<std::string>& keys,
                        std::size_t first) {
  std::string label = keys[first];
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (k == first || keys[k].empty() || keys[k] == "[]") continue;
    label += fmt::format("{}{}={}", label.empty() ? "" : ", ", last_part(columns[k].path), keys[k]);
  }
  return label;
}

std::string panel_title(const std::vector<KeyColumn>& columns, const std::vector<std::string>& keys,
                        std::size_t curves) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (k != curves)
      parts.push_back(fmt::format("{} = {}", last_part(columns[k].path), keys[k].empty() ? "-" : keys[k]));
  return joined(parts);
}

PlotGroup& group_titled(std::vector<PlotGroup>& groups, const std::string& title) {
  const auto found = std::ranges::find(groups, title, &PlotGroup::title);
  if (found != groups.end()) return *found;
  return groups.emplace_back(PlotGroup{title, {}});
}

std::vector<PlotGroup> make_groups(const std::vector<CollectedRun>& runs, const std::vector<KeyColumn>& columns,
                                   bool was_asked) {
  std::vector<RunCell> cells = cells_of(runs, columns);
  std::vector<PlotGroup> groups;
  if (columns.empty()) return {{"", {{"", {}, std::move(cells.front().runs)}}}};
  const std::size_t curves = curve_column(columns, was_asked);
  const bool has_panels = columns.size() > 1 && is_full_grid(columns, cells.size());
  for (RunCell& cell : cells) {
    const std::string title = has_panels ? panel_title(columns, cell.keys, curves) : "";
    const std::string label = has_panels ? cell.keys[curves] : whole_label(columns, cell.keys, curves);
    group_titled(groups, title)
        .cells.push_back({label.empty() ? "-" : label, {}, std::move(cell.runs), std::move(cell.keys)});
  }
  for (const PlotGroup& group : groups)
    if (group.cells.size() > kMostCurves)
      throw SpecError(
          fmt::format("--by: {} curves in one panel can not be told apart ({} at most); give fewer keys "
                      "with --by, or fewer values with --only; keys that vary: {}",
                      group.cells.size(), kMostCurves, list_keys(columns)));
  return groups;
}

// -- tones

std::string scheme_of(const CollectedRun& run) {
  const SpecNode* position = run.spec->find_path("model.position");
  if (position != nullptr && position->is_mapping()) position = position->find("type");
  return position != nullptr && position->is_scalar() ? position->text : "";
}

// The scheme that all runs of a curve have; "" if they have several.
std::string scheme_of(const PlotCell& cell) {
  const std::string scheme = scheme_of(*cell.runs.front());
  const bool is_common = std::ranges::all_of(cell.runs, [&](const auto* run) { return scheme_of(*run) == scheme; });
  return is_common ? scheme : "";
}

// Curves of one label look alike in all panels. Where schemes are compared, each has its own tone, and several curves
// of one scheme are variants of it.
void choose_tones(std::vector<PlotGroup>& groups) {
  std::vector<std::pair<std::string, std::string>> labels;  // with their schemes, in order
  std::set<std::string> schemes;
  for (const PlotGroup& group : groups) {
    for (const PlotCell& cell : group.cells) {
      if (std::ranges::find(labels, cell.label, &std::pair<std::string, std::string>::first) != labels.end()) continue;
      labels.emplace_back(cell.label, scheme_of(cell));
      schemes.insert(labels.back().second);
    }
  }
  const bool by_scheme = !schemes.contains("") && (schemes.size() > 1 || labels.size() == 1);
  std::map<std::string, Tone> tones;
  std::map<std::string, std::size_t> variants;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto& [label, scheme] = labels[i];
    tones[label] = by_scheme ? variant_of(scheme_tone(scheme), variants[scheme]++) : ordinal_tone(i);
  }
  for (PlotGroup& group : groups)
    for (PlotCell& cell : group.cells) cell.tone = tones.at(cell.label);
}

}  // namespace

std::size_t PlotSelection::most_seeds() const {
  std::size_t most = 0;
  for (const PlotGroup& group : groups)
    for (const PlotCell& cell : group.cells) most = std::max(most, cell.runs.size());
  return most;
}

std::size_t PlotSelection::fewest_seeds() const {
  std::size_t fewest = most_seeds();
  for (const PlotGroup& group : groups)
    for (const PlotCell& cell : group.cells) fewest = std::min(fewest, cell.runs.size());
  return fewest;
}

PlotSelection select_runs(const std::vector<std::filesystem::path>& paths, const PlotOptions& options) {
  PlotSelection selection;
  selection.paths = paths;
  selection.collection = collect_runs(paths);
  selection.notes = selection.collection.notes;
  std::vector<CollectedRun>& runs = selection.collection.runs;
  for (const Filter& filter : parse_filters(options.only)) apply(filter, runs);
  const std::vector<KeyColumn> columns = key_columns(runs, options.by);
  for (const KeyColumn& column : columns) selection.columns.push_back(column.path);
  selection.groups = make_groups(runs, columns, !options.by.empty());
  choose_tones(selection.groups);
  check_panel_count(selection.groups.size(), selection);
  return selection;
}

void check_panel_count(std::size_t panels, const PlotSelection& selection) {
  if (panels <= kMostPanels) return;
  throw SpecError(
      fmt::format("--by: {} panels are too many to read ({} at most); give the keys to show with --by (the "
                  "others are pooled), or fewer values with --only or --evaluate; keys that vary: {}",
                  panels, kMostPanels, list_keys(key_columns(selection.collection.runs, {}))));
}

std::optional<std::int64_t> integer_of(const CollectedRun& run, const std::string& path) {
  const SpecNode* node = run.spec->find_path(path);
  if (node == nullptr || !node->is_scalar()) return std::nullopt;
  std::int64_t value = 0;
  const char* end = node->text.data() + node->text.size();
  const auto [stop, error] = std::from_chars(node->text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> common_integer(const PlotGroup& group, const std::string& path) {
  const std::optional<std::int64_t> first = integer_of(*group.cells.front().runs.front(), path);
  for (const PlotCell& cell : group.cells)
    for (const CollectedRun* run : cell.runs)
      if (integer_of(*run, path) != first) return std::nullopt;
  return first;
}

}  // namespace jari
