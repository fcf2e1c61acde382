#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "framework/registry/registry.hpp"
#include "framework/spec/binder.hpp"
#include "framework/spec/compose.hpp"
#include "framework/spec/interpolate.hpp"
#include "framework/sweep/sweep.hpp"

namespace jari {
namespace {

constexpr std::size_t kMostTrials = 100000;

// One dimension of the sweep: a key of `grid`, or the whole `list`.
struct Axis {
  struct Setting {
    std::string path;
    SourceSpan span;  // of the path
    SpecNode value;
  };
  struct Choice {
    std::vector<Setting> settings;
    std::vector<std::pair<std::string, std::string>> labels;  // path and readable value
  };
  SourceSpan span;
  std::vector<std::string> paths;
  std::vector<Choice> choices;
};

// The keys of the file that say which trials there are.
struct SweepKeys {
  std::int64_t seed = 42;
  std::int64_t seeds = 1;
  std::optional<SweepSpec> sweep;

  template <class F>
  void fields(F& f) {
    f("seed", seed, "seed of the first trial", at_least(0));
    f("seeds", seeds, "trials with the seeds seed, seed+1, ...", between(1, 100000));
    f("sweep", sweep, "what varies from trial to trial");
  }
};

SweepKeys read_keys(const SpecNode& spec, Diagnostics& diagnostics) {
  SpecNode keys = SpecNode::mapping(spec.span);
  for (const SpecEntry& entry : spec.entries) {
    if (entry.key == "seed" || entry.key == "seeds" || entry.key == "sweep")
      keys.set(entry.key, entry.value, entry.key_span);
  }
  SweepKeys result;
  SpecNode resolved;
  Binder binder(nullptr, diagnostics);
  binder.bind(keys, "", result, resolved);
  return result;
}

// What tells a value from the others of its axis: the scalar itself, a component's name, or its name and the keys that
// differ.
std::string value_label(const SpecNode& value) {
  if (value.is_scalar()) return value.text;
  if (!value.is_mapping()) return to_flow_yaml(value);
  const SpecNode* type = value.find("type");
  return type ? type->text : to_flow_yaml(value);
}

// Values with one name are told apart by the keys in which they differ: "rel", "rel-unseen=clamp".
std::vector<std::string> value_labels(const std::vector<SpecNode>& values) {
  std::vector<std::string> names, labels;
  for (const SpecNode& value : values) names.push_back(value_label(value));
  labels = names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_mapping()) continue;
    for (const SpecEntry& entry : values[i].entries) {
      bool differs = false;
      for (std::size_t other = 0; other < values.size(); ++other) {
        const SpecNode* same_key = names[other] == names[i] ? values[other].find(entry.key) : &entry.value;
        differs = differs || same_key == nullptr || !same_value(*same_key, entry.value);
      }
      if (!differs) continue;
      labels[i] +=
          fmt::format("-{}={}", entry.key, entry.value.is_scalar() ? entry.value.text : to_flow_yaml(entry.value));
    }
  }
  return labels;
}

void mark_origin(SpecNode& node, const std::string& origin) {
  node.span.origin = origin;
  for (SpecNode& item : node.items) mark_origin(item, origin);
  for (SpecEntry& entry : node.entries) {
    entry.key_span.origin = origin;
    mark_origin(entry.value, origin);
  }
}

bool is_seed(const std::string& path) { return path == "seed" || path == "seeds"; }

void refuse_seed_axis(const SourceSpan& span, const std::string& path, Diagnostics& diagnostics) {
  diagnostics.error(span, path, "seeds are no axis of a sweep", "set `seeds: 5` at the top level");
}

Axis::Setting setting(const std::string& path, const SourceSpan& span, SpecNode value) {
  const std::string origin = fmt::format("from sweep axis '{}'", path);
  mark_origin(value, origin);
  SourceSpan key_span = span;
  key_span.origin = origin;
  return {path, key_span, std::move(value)};
}

std::optional<Axis> read_grid_axis(const SpecEntry& entry, Diagnostics& diagnostics) {
  const std::string path = "sweep.grid." + entry.key;
  if (is_seed(entry.key)) {
    refuse_seed_axis(entry.key_span, path, diagnostics);
  } else if (!entry.value.is_sequence()) {
    diagnostics.error(entry.value.span, path,
                      fmt::format("expected a list of values, found {}", describe_value(entry.value)),
                      fmt::format("write [{}]", to_flow_yaml(entry.value)));
  } else if (entry.value.items.empty()) {
    diagnostics.error(entry.value.span, path, "an axis without values declares no trial");
  } else {
    Axis axis{entry.key_span, {entry.key}, {}};
    const std::vector<std::string> labels = value_labels(entry.value.items);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      axis.choices.push_back({{setting(entry.key, entry.key_span, entry.value.items[i])}, {{entry.key, labels[i]}}});
    }
    return axis;
  }
  return std::nullopt;
}

// The values that a list gives to one path, and which of its items they stand in.
void add_list_path(const std::string& path, const std::vector<SpecNode>& items, Axis& axis) {
  std::vector<SpecNode> values;
  std::vector<std::size_t> where;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const SpecNode* value = items[i].find(path)) {
      values.push_back(*value);
      where.push_back(i);
    }
  }
  const std::vector<std::string> labels = value_labels(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Axis::Choice& choice = axis.choices[where[i]];
    choice.settings.push_back(setting(path, values[i].span, values[i]));
    choice.labels.emplace_back(path, labels[i]);
  }
  axis.paths.push_back(path);
}

std::optional<Axis> read_list(const SpecNode& list, Diagnostics& diagnostics) {
  if (list.is_null()) return std::nullopt;
  if (!list.is_sequence() || list.items.empty()) {
    diagnostics.error(list.span, "sweep.list",
                      fmt::format("expected a list of mappings, found {}", describe_value(list)),
                      "each item sets keys by their path: `- {model.width: 64, train.batch: 32}`");
    return std::nullopt;
  }
  Axis axis{list.span, {}, std::vector<Axis::Choice>(list.items.size())};
  for (const SpecNode& item : list.items) {
    if (!item.is_mapping() || item.entries.empty()) {
      diagnostics.error(item.span, "sweep.list",
                        fmt::format("expected a mapping of paths to values, found {}", describe_value(item)),
                        "write e.g. `- {model.width: 64}`");
      return std::nullopt;
    }
    for (const SpecEntry& entry : item.entries) {
      if (is_seed(entry.key)) refuse_seed_axis(entry.key_span, "sweep.list." + entry.key, diagnostics);
      if (std::find(axis.paths.begin(), axis.paths.end(), entry.key) == axis.paths.end()) {
        add_list_path(entry.key, list.items, axis);
      }
    }
  }
  return axis;
}

std::vector<Axis> read_axes(const SweepSpec& sweep, Diagnostics& diagnostics) {
  std::vector<Axis> axes;
  if (std::optional<Axis> list = read_list(sweep.list, diagnostics)) axes.push_back(std::move(*list));
  if (!sweep.grid.is_mapping()) {
    diagnostics.error(sweep.grid.span, "sweep.grid",
                      fmt::format("expected a mapping of keys to lists, found {}", describe_value(sweep.grid)),
                      "write e.g. `model.width: [64, 128]`");
    return axes;
  }
  for (const SpecEntry& entry : sweep.grid.entries) {
    if (std::optional<Axis> axis = read_grid_axis(entry, diagnostics)) axes.push_back(std::move(*axis));
  }
  return axes;
}

// An override of what an axis sets would be lost without a word.
void refuse_lost_overrides(const SpecNode& node, const std::string& path, const std::string& axis,
                           Diagnostics& diagnostics) {
  if (node.span.file && node.span.file->name.starts_with("override #")) {
    diagnostics.error(node.span, path, fmt::format("has no effect: the sweep sets '{}'", axis),
                      "change the axis in the spec, or override a key that it does not set");
    return;
  }
  for (const SpecEntry& entry : node.entries) {
    refuse_lost_overrides(entry.value, path + "." + entry.key, axis, diagnostics);
  }
}

// The settings of cell `index` of the product of all axes, the last axis fastest.
Expansion::Cell make_cell(const SpecNode& base, const std::vector<Axis>& axes, std::size_t index, std::size_t cells,
                          Diagnostics& diagnostics) {
  Expansion::Cell cell{base, {}};
  for (const Axis& axis : axes) {
    cells /= axis.choices.size();
    const Axis::Choice& choice = axis.choices[index / cells];
    index %= cells;
    for (const Axis::Setting& each : choice.settings)
      set_path(cell.spec, each.path, each.value, each.span, diagnostics);
    cell.labels.insert(cell.labels.end(), choice.labels.begin(), choice.labels.end());
  }
  return cell;
}

}  // namespace

Expansion expand(const SpecNode& spec, Diagnostics& diagnostics) {
  Expansion result;
  const SweepKeys keys = read_keys(spec, diagnostics);
  const std::vector<Axis> axes = keys.sweep ? read_axes(*keys.sweep, diagnostics) : std::vector<Axis>{};
  if (keys.sweep) {
    result.on_failure = keys.sweep->on_failure;
    result.retries = keys.sweep->retries;
  }
  std::size_t cells = 1;
  for (const Axis& axis : axes) {
    for (const std::string& path : axis.paths) {
      if (const SpecNode* node = spec.find_path(path)) refuse_lost_overrides(*node, path, path, diagnostics);
    }
    result.axes.insert(result.axes.end(), axis.paths.begin(), axis.paths.end());
    cells *= axis.choices.size();
    if (cells * static_cast<std::size_t>(keys.seeds) > kMostTrials) {
      diagnostics.error(axis.span, "sweep", fmt::format("more than {} trials", kMostTrials), "split the sweep");
      return result;
    }
  }
  SpecNode base = spec;
  for (const char* key : {"sweep", "seeds", "seed"}) base.erase(key);
  const SpecNode* seed_node = spec.find("seed");

  for (std::size_t index = 0; index < cells; ++index) {
    Diagnostics of_cell;
    Expansion::Cell cell = make_cell(base, axes, index, cells, of_cell);
    interpolate(cell.spec, of_cell);
    for (std::int64_t seed = keys.seed; seed < keys.seed + keys.seeds; ++seed) {
      diagnostics.add_trial(of_cell, 0);
      Expansion::Cell& trial = result.cells.emplace_back(cell);
      trial.spec.set("seed", SpecNode::scalar(std::to_string(seed), false, seed_node ? seed_node->span : SourceSpan{}));
      trial.labels.emplace_back("seed", std::to_string(seed));
    }
  }
  return result;
}

}  // namespace jari
