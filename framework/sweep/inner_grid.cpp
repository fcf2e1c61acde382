#include "framework/sweep/inner_grid.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/spec/binder.hpp"
#include "framework/sweep/axis.hpp"

namespace jari {
namespace {

// How many values a value stands for; kMostTrials + 1 for any number beyond.
std::size_t count(const SpecNode& node) {
  std::size_t sum = 0, product = 1;
  const auto add = [&](const SpecNode& child) {
    const std::size_t inner = count(child);
    sum = std::min(sum + inner, kMostTrials + 1);
    product = std::min(product * inner, kMostTrials + 1);
  };
  for (const SpecNode& item : node.items) add(item);
  for (const SpecEntry& entry : node.entries) add(entry.value);
  return node.grid ? sum : product;
}

std::vector<SpecNode> expanded(const SpecNode& node) {
  if (node.grid) {
    std::vector<SpecNode> all;
    for (const SpecNode& item : node.items) std::ranges::move(expanded(item), std::back_inserter(all));
    return all;
  }
  std::vector<SpecNode> partial{node};
  // Replaces child `i` of all that there is so far by each of its own alternatives.
  const auto cross = [&partial](const std::vector<SpecNode>& choices, auto child_of) {
    std::vector<SpecNode> all;
    for (const SpecNode& each : partial) {
      for (const SpecNode& choice : choices) child_of(all.emplace_back(each)) = choice;
    }
    partial = std::move(all);
  };
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    cross(expanded(node.items[i]), [i](SpecNode& parent) -> SpecNode& { return parent.items[i]; });
  }
  for (std::size_t i = 0; i < node.entries.size(); ++i) {
    cross(expanded(node.entries[i].value), [i](SpecNode& parent) -> SpecNode& { return parent.entries[i].value; });
  }
  return partial;
}

bool holds_grid(const SpecNode& node) {
  return node.grid || std::ranges::any_of(node.items, holds_grid) ||
         std::ranges::any_of(node.entries, [](const SpecEntry& entry) { return holds_grid(entry.value); });
}

}  // namespace

std::vector<SpecNode> alternatives(const SpecNode& value, const std::string& place, Diagnostics& diagnostics) {
  if (!holds_grid(value)) return {value};
  const std::size_t total = count(value);
  if (total > std::min(kMostTrials, kMostValues / count_values(value))) {
    diagnostics.error(value.span, place, "stands for too many values", "split the sweep");
    return {};
  }
  if (total == 0) {
    diagnostics.error(value.span, place, "an empty !grid stands for no value", "write for example !grid [0.5, 1]");
    return {};
  }
  return expanded(value);
}

void refuse_grids(SpecNode& node, const std::string& path, Diagnostics& diagnostics) {
  if (node.grid) {
    SpecNode list = node;
    list.grid = false;
    diagnostics.error(node.span, path, "!grid stands in the values of a sweep only",
                      fmt::format("make it an axis: `sweep: {{grid: {{{}: {}}}}}`", path, to_flow_yaml(list)));
    node.refused = true;
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    refuse_grids(node.items[i], child_path(path, std::to_string(i)), diagnostics);
  }
  for (SpecEntry& entry : node.entries) refuse_grids(entry.value, child_path(path, entry.key), diagnostics);
}

}  // namespace jari
