#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "framework/registry/registry.hpp"
#include "framework/spec/binder.hpp"
#include "framework/sweep/sweep.hpp"

namespace jari {
namespace {

constexpr std::size_t kMostTrials = 100000;

struct Axis {
  std::string path;
  SourceSpan span;
  std::vector<SpecNode> values;
  std::vector<std::string> labels;  // one a value, distinct
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

std::vector<std::string> value_labels(const std::vector<SpecNode>& values) {
  std::vector<std::string> labels;
  std::map<std::string, int> uses;
  for (const SpecNode& value : values) ++uses[labels.emplace_back(value_label(value))];
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (uses[labels[i]] == 1 || !values[i].is_mapping()) continue;
    for (const SpecEntry& entry : values[i].entries) {
      const auto shared = [&](const SpecNode& other) {
        const SpecNode* same_key = other.is_mapping() ? other.find(entry.key) : nullptr;
        return same_key != nullptr && same_value(*same_key, entry.value);
      };
      if (!std::all_of(values.begin(), values.end(), shared) && entry.key != "type") {
        labels[i] +=
            fmt::format("-{}={}", entry.key, entry.value.is_scalar() ? entry.value.text : to_flow_yaml(entry.value));
      }
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

std::vector<Axis> read_axes(const SpecNode& grid, Diagnostics& diagnostics) {
  std::vector<Axis> axes;
  if (!grid.is_mapping()) {
    diagnostics.error(grid.span, "sweep.grid",
                      fmt::format("expected a mapping of keys to lists, found {}", describe_value(grid)),
                      "write e.g. `model.width: [64, 128]`");
    return axes;
  }
  for (const SpecEntry& entry : grid.entries) {
    const std::string path = "sweep.grid." + entry.key;
    if (entry.key == "seed" || entry.key == "seeds") {
      diagnostics.error(entry.key_span, path, "seeds are no axis of a grid", "set `seeds: 5` at the top level");
    } else if (!entry.value.is_sequence()) {
      diagnostics.error(entry.value.span, path,
                        fmt::format("expected a list of values, found {}", describe_value(entry.value)),
                        fmt::format("write [{}]", to_flow_yaml(entry.value)));
    } else if (entry.value.items.empty()) {
      diagnostics.error(entry.value.span, path, "an axis without values declares no trial");
    } else {
      Axis axis{entry.key, entry.key_span, entry.value.items, value_labels(entry.value.items)};
      for (SpecNode& value : axis.values) mark_origin(value, fmt::format("from sweep axis '{}'", entry.key));
      axes.push_back(std::move(axis));
    }
  }
  return axes;
}

// `a.b.c` in a tree whose inner mappings may be missing, or be a component's short form (`optimizer: adam`).
void set_path(SpecNode& spec, const std::string& path, const SpecNode& value, const SourceSpan& axis_span) {
  SpecNode* node = &spec;
  std::size_t begin = 0;
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
    const std::string key = path.substr(begin, dot - begin);
    SpecNode* child = node->find(key);
    if (child == nullptr) child = &node->set(key, SpecNode::mapping(axis_span), axis_span);
    if (child->is_scalar()) {
      const SpecNode name = *child;
      *child = SpecNode::mapping(name.span);
      child->set("type", name, name.span);
    }
    node = child;
    begin = dot + 1;
  }
  SourceSpan key_span = axis_span;
  key_span.origin = fmt::format("from sweep axis '{}'", path);
  node->set(path.substr(begin), value, key_span);
}

}  // namespace

Expansion expand(const SpecNode& spec, Diagnostics& diagnostics) {
  Expansion result;
  const SweepKeys keys = read_keys(spec, diagnostics);
  const std::vector<Axis> axes = keys.sweep ? read_axes(keys.sweep->grid, diagnostics) : std::vector<Axis>{};
  std::size_t cells = 1;
  for (const Axis& axis : axes) {
    result.axes.push_back(axis.path);
    cells *= axis.values.size();
    if (cells * static_cast<std::size_t>(keys.seeds) > kMostTrials) {
      diagnostics.error(axis.span, "sweep.grid", fmt::format("more than {} trials", kMostTrials), "split the sweep");
      return result;
    }
  }
  SpecNode base = spec;
  for (const char* key : {"sweep", "seeds", "seed"}) base.erase(key);
  const SpecNode* seed_node = spec.find("seed");

  for (std::size_t cell = 0; cell < cells; ++cell) {
    SpecNode tree = base;
    std::vector<std::pair<std::string, std::string>> labels;
    std::size_t remaining = cell, block = cells;
    for (const Axis& axis : axes) {
      block /= axis.values.size();
      const std::size_t choice = remaining / block;
      remaining %= block;
      set_path(tree, axis.path, axis.values[choice], axis.span);
      labels.emplace_back(axis.path, axis.labels[choice]);
    }
    for (std::int64_t seed = keys.seed; seed < keys.seed + keys.seeds; ++seed) {
      Expansion::Cell& trial = result.cells.emplace_back(Expansion::Cell{tree, labels});
      trial.spec.set("seed", SpecNode::scalar(std::to_string(seed), false, seed_node ? seed_node->span : SourceSpan{}));
      trial.labels.emplace_back("seed", std::to_string(seed));
    }
  }
  return result;
}

}  // namespace jari
