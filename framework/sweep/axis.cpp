#include "framework/sweep/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "framework/sweep/inner_grid.hpp"

namespace jari {
namespace {

void mark_origin(SpecNode& node, const std::string& origin) {
  node.span.origin = origin;
  for (SpecNode& item : node.items) mark_origin(item, origin);
  for (SpecEntry& entry : node.entries) {
    entry.key_span.origin = origin;
    mark_origin(entry.value, origin);
  }
}

AxisSetting make_setting(const SpecEntry& entry, std::string label) {
  AxisSetting setting{entry.key, entry.key_span, entry.value, std::move(label)};
  setting.span.origin = fmt::format("from sweep axis '{}'", entry.key);
  mark_origin(setting.value, setting.span.origin);
  return setting;
}

// Each row with the inner grids of its values taken apart.
std::vector<SpecNode> expanded_rows(const std::vector<SpecNode>& rows, const std::string& place,
                                    Diagnostics& diagnostics) {
  std::vector<SpecNode> all;
  for (const SpecNode& row : rows) std::ranges::move(alternatives(row, place, diagnostics), std::back_inserter(all));
  return all;
}

bool expect_values(const SpecEntry& entry, const std::string& place, Diagnostics& diagnostics) {
  if (!entry.value.is_sequence()) {
    diagnostics.error(entry.value.span, place,
                      fmt::format("expected a list of values, found {}", describe_value(entry.value)),
                      fmt::format("write [{}]", to_flow_yaml(entry.value)));
    return false;
  }
  if (entry.value.items.empty()) {
    diagnostics.error(entry.value.span, place, "an axis without values declares no trial");
    return false;
  }
  return true;
}

// A row with one key for each item of the entry's list.
std::vector<SpecNode> rows_of(const SpecEntry& entry) {
  std::vector<SpecNode> rows;
  for (const SpecNode& item : entry.value.items) {
    SpecNode& row = rows.emplace_back(SpecNode::mapping(item.span));
    row.set(entry.key, item, entry.key_span);
  }
  return rows;
}

void read_grid(const SpecNode& grid, const std::string& place, std::vector<Axis>& axes, Diagnostics& diagnostics) {
  if (grid.is_null()) return;
  if (!grid.is_mapping()) {
    diagnostics.error(grid.span, place,
                      fmt::format("expected a mapping of keys to lists, found {}", describe_value(grid)),
                      "write e.g. `model.width: [64, 128]`");
    return;
  }
  for (const SpecEntry& entry : grid.entries) {
    const std::string own_place = place + "." + entry.key;
    if (refuse_seed(entry.key_span, entry.key, own_place, diagnostics)) continue;
    if (!expect_values(entry, own_place, diagnostics)) continue;
    axes.push_back(make_axis(own_place, entry.key_span, expanded_rows(rows_of(entry), own_place, diagnostics)));
  }
}

void read_list(const SpecNode& list, const std::string& place, std::vector<Axis>& axes, Diagnostics& diagnostics) {
  if (list.is_null()) return;
  if (!list.is_sequence() || list.items.empty()) {
    diagnostics.error(list.span, place, fmt::format("expected a list of mappings, found {}", describe_value(list)),
                      "each item sets keys by their path: `- {model.width: 64, train.batch: 32}`");
    return;
  }
  for (const SpecNode& item : list.items) {
    if (!item.is_mapping() || item.entries.empty()) {
      diagnostics.error(item.span, place,
                        fmt::format("expected a mapping of paths to values, found {}", describe_value(item)),
                        "write e.g. `- {model.width: 64}`");
      return;
    }
    for (const SpecEntry& entry : item.entries) {
      refuse_seed(entry.key_span, entry.key, place + "." + entry.key, diagnostics);
    }
  }
  axes.push_back(make_axis(place, list.span, expanded_rows(list.items, place, diagnostics)));
}

// The lists of a zip, all of one length, as rows.
std::optional<std::vector<SpecNode>> zip_rows(const SpecNode& zip, const std::string& place, Diagnostics& diagnostics) {
  if (!zip.is_mapping() || zip.entries.empty()) {
    diagnostics.error(zip.span, place,
                      fmt::format("expected a mapping of paths to lists, found {}", describe_value(zip)),
                      "write e.g. `{model.width: [64, 128], train.batch: [256, 128]}`");
    return std::nullopt;
  }
  const SpecEntry& first = zip.entries.front();
  bool good = true;
  for (const SpecEntry& entry : zip.entries) {
    const std::string own_place = place + "." + entry.key;
    if (refuse_seed(entry.key_span, entry.key, own_place, diagnostics) ||
        !expect_values(entry, own_place, diagnostics)) {
      good = false;
    } else if (first.value.is_sequence() && entry.value.items.size() != first.value.items.size()) {
      diagnostics.error(
          entry.value.span, own_place,
          fmt::format("has {} values and '{}' has {}", entry.value.items.size(), first.key, first.value.items.size()),
          "the lists of a zip are walked together; for all combinations use grid");
      good = false;
    }
  }
  if (!good) return std::nullopt;
  std::vector<SpecNode> rows(first.value.items.size(), SpecNode::mapping(zip.span));
  for (const SpecEntry& entry : zip.entries) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].set(entry.key, entry.value.items[i], entry.key_span);
  }
  return rows;
}

void read_zip(const SpecNode& zip, const std::string& place, std::vector<Axis>& axes, Diagnostics& diagnostics) {
  if (zip.is_null()) return;
  const std::vector<SpecNode> zips = zip.is_sequence() ? zip.items : std::vector<SpecNode>{zip};
  for (const SpecNode& each : zips) {
    if (const auto rows = zip_rows(each, place, diagnostics)) {
      axes.push_back(make_axis(place, each.span, expanded_rows(*rows, place, diagnostics)));
    }
  }
}

}  // namespace

Axis make_axis(std::string place, SourceSpan span, const std::vector<SpecNode>& rows,
               const std::map<std::string, ValueLabels>& labels) {
  Axis axis{std::move(place), std::move(span), {}, std::vector<AxisChoice>(rows.size())};
  std::map<std::string, std::vector<SpecNode>> values;
  for (const SpecNode& row : rows) {
    for (const SpecEntry& entry : row.entries) {
      std::vector<SpecNode>& of_path = values[entry.key];
      if (of_path.empty()) axis.paths.push_back(entry.key);
      of_path.push_back(entry.value);
    }
  }
  std::map<std::string, ValueLabels> all = labels;
  for (const auto& [path, of_path] : values) {
    if (!labels.contains(path)) all.emplace(path, ValueLabels(of_path));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const SpecEntry& entry : rows[i].entries) {
      axis.choices[i].settings.push_back(make_setting(entry, all.at(entry.key).of(entry.value)));
    }
  }
  return axis;
}

std::vector<Axis> read_axes(const SpecNode& list, const SpecNode& zip, const SpecNode& grid, const std::string& place,
                            Diagnostics& diagnostics) {
  std::vector<Axis> axes;
  read_list(list, place + ".list", axes, diagnostics);
  read_zip(zip, place + ".zip", axes, diagnostics);
  read_grid(grid, place + ".grid", axes, diagnostics);
  return axes;
}

std::size_t count_values(const SpecNode& node) {
  std::size_t count = 1;
  for (const SpecNode& item : node.items) count += count_values(item);
  for (const SpecEntry& entry : node.entries) count += count_values(entry.value);
  return count;
}

bool refuse_seed(const SourceSpan& span, const std::string& path, const std::string& place, Diagnostics& diagnostics) {
  if (path != "seed" && path != "seeds") return false;
  diagnostics.error(span, place, "seeds are no axis of a sweep", "set `seeds: 5` at the top level");
  return true;
}

}  // namespace jari
