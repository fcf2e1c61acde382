#include "framework/sweep/trial_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "framework/base/text.hpp"
#include "framework/spec/scalar.hpp"
#include "framework/sweep/conditions.hpp"

namespace jari {
namespace {

constexpr int kAbsent = -1;

// The trials' values of one axis, as numbers.
struct Column {
  std::string path;
  std::vector<std::string> values;  // in order of appearance
  std::vector<int> of_trial;        // index of `values`, or kAbsent
  std::vector<bool> common;         // values that one of the chosen trials has
  bool is_absent_common = false;

  bool admits(std::size_t trial) const {
    const int value = of_trial[trial];
    return value == kAbsent ? is_absent_common : common[static_cast<std::size_t>(value)];
  }
};

std::vector<Column> columns_of(const std::vector<const VaryingKeys*>& all) {
  std::vector<Column> columns;
  std::unordered_map<std::string, std::size_t> column_of;
  std::vector<std::unordered_map<std::string, int>> value_of;
  for (std::size_t trial = 0; trial < all.size(); ++trial) {
    for (const auto& [path, value] : *all[trial]) {
      const auto [place, is_new_path] = column_of.emplace(path, columns.size());
      if (is_new_path) {
        columns.push_back({path, {}, std::vector<int>(all.size(), kAbsent), {}, false});
        value_of.emplace_back();
      }
      Column& column = columns[place->second];
      const auto [number, is_new_value] =
          value_of[place->second].emplace(value, static_cast<int>(column.values.size()));
      if (is_new_value) column.values.push_back(value);
      column.of_trial[trial] = number->second;
    }
  }
  return columns;
}

void mark_common(Column& column, const std::vector<std::size_t>& some) {
  column.common.assign(column.values.size(), false);
  for (const std::size_t trial : some) {
    const int value = column.of_trial[trial];
    if (value == kAbsent)
      column.is_absent_common = true;
    else
      column.common[static_cast<std::size_t>(value)] = true;
  }
}

std::size_t count_admitted(const std::vector<const Column*>& columns, std::size_t trials) {
  std::size_t count = 0;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    count += std::ranges::all_of(columns, [trial](const Column* column) { return column->admits(trial); });
  }
  return count;
}

SpecNode condition_value(const std::string& text) {
  return SpecNode::scalar(text, !parse_number(text) && !parse_boolean(text));
}

// {model.heads: 3, model.width: [16, 32]}
SpecNode exclude_item(const std::vector<AxisValues>& values) {
  SpecNode item = SpecNode::mapping();
  for (const AxisValues& axis : values) {
    std::vector<SpecNode> wanted;
    for (const std::string& value : axis.values) wanted.push_back(condition_value(value));
    item.set(axis.path, wanted.size() == 1 ? wanted.front() : SpecNode::sequence(std::move(wanted)));
  }
  return item;
}

// The text of the `exclude` that drops exactly `some`, or "". A label may be shorter than the value that it stands for,
// so the trials are asked.
std::string exclude_text(const std::vector<AxisValues>& values, const std::vector<TrialView>& trials,
                         const std::vector<std::size_t>& some) {
  constexpr std::size_t kMostValues = 8;
  std::size_t count = 0;
  for (const AxisValues& axis : values) count += axis.values.size();
  if (count > kMostValues) return "";
  const SpecNode item = exclude_item(values);
  Diagnostics ignored;
  const Conditions conditions = read_conditions(item, "", ignored);
  std::size_t next = 0;
  for (std::size_t trial = 0; trial < trials.size(); ++trial) {
    const bool wanted = next < some.size() && some[next] == trial;
    if (fulfills(*trials[trial].tree, conditions) != wanted) return "";
    next += wanted;
  }
  return fmt::format("exclude: [{}]", to_flow_yaml(item));
}

}  // namespace

std::optional<std::vector<AxisValues>> common_values(const std::vector<const VaryingKeys*>& all,
                                                     const std::vector<std::size_t>& some) {
  std::vector<Column> columns = columns_of(all);
  std::vector<const Column*> kept;
  for (Column& column : columns) {
    mark_common(column, some);
    kept.push_back(&column);
  }
  if (count_admitted(kept, all.size()) != some.size()) return std::nullopt;
  for (std::size_t i = kept.size(); i-- > 0;) {
    std::vector<const Column*> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (count_admitted(fewer, all.size()) == some.size()) kept = std::move(fewer);
  }
  std::vector<AxisValues> result;
  for (const Column* column : kept) {
    if (column->is_absent_common) return std::nullopt;
    AxisValues& axis = result.emplace_back(AxisValues{column->path, {}});
    for (std::size_t i = 0; i < column->values.size(); ++i) {
      if (column->common[i]) axis.values.push_back(column->values[i]);
    }
  }
  return result;
}

std::optional<std::vector<AxisValues>> separating_values(const std::vector<const VaryingKeys*>& all,
                                                         const std::vector<std::size_t>& some) {
  std::vector<bool> chosen(all.size(), false), covered(all.size(), false);
  for (const std::size_t trial : some) chosen[trial] = true;
  std::vector<AxisValues> result;
  for (const Column& column : columns_of(all)) {
    std::vector<bool> is_own(column.values.size(), true), is_news(column.values.size(), false);
    for (std::size_t trial = 0; trial < all.size(); ++trial) {
      if (column.of_trial[trial] == kAbsent) continue;
      const auto value = static_cast<std::size_t>(column.of_trial[trial]);
      is_own[value] = is_own[value] && chosen[trial];
      is_news[value] = is_news[value] || !covered[trial];
    }
    AxisValues axis{column.path, {}};
    for (std::size_t value = 0; value < column.values.size(); ++value) {
      if (is_own[value] && is_news[value]) axis.values.push_back(column.values[value]);
    }
    for (std::size_t trial = 0; trial < all.size(); ++trial) {
      if (column.of_trial[trial] == kAbsent) continue;
      covered[trial] = covered[trial] || is_own[static_cast<std::size_t>(column.of_trial[trial])];
    }
    if (!axis.values.empty()) result.push_back(std::move(axis));
  }
  if (!std::ranges::all_of(some, [&covered](std::size_t trial) { return covered[trial]; })) return std::nullopt;
  return result;
}

std::string to_text(const std::vector<AxisValues>& values) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> parts;
  for (const AxisValues& axis : values) {
    std::vector<std::string> named(axis.values.begin(), axis.values.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                                  axis.values.size(), kMostNamed)));
    std::string text;
    if (axis.values.size() > kMostNamed) {
      text = fmt::format("{} ... ({} values)", joined(named), axis.values.size());
    } else {
      const std::string last = named.back();
      named.pop_back();
      text = named.empty() ? last : fmt::format("{} or {}", joined(named), last);
    }
    parts.push_back(fmt::format("{}={}", axis.path, text));
  }
  return joined(parts);
}

std::string combination_text(const VaryingKeys& varying) {
  std::vector<std::string> parts;
  for (const auto& [path, value] : varying) {
    if (path != "seed") parts.push_back(fmt::format("{}={}", path, value));
  }
  return joined(parts);
}

void name_trials(Diagnostics& diagnostics, const std::vector<TrialView>& trials) {
  std::vector<const VaryingKeys*> all;
  for (const TrialView& trial : trials) all.push_back(trial.varying);
  diagnostics.name_trials([&](Diagnostic& diagnostic) {
    if (diagnostic.total != trials.size()) return;
    const auto values = common_values(all, diagnostic.trials);
    if (!values) {
      diagnostic.which = "among them " + combination_text(*all[diagnostic.trials.front()]);
      return;
    }
    diagnostic.which = "all with " + to_text(*values);
    const std::string exclude = exclude_text(*values, trials, diagnostic.trials);
    if (!exclude.empty()) diagnostic.remedy = fmt::format("to leave them out: `sweep: {{{}}}`", exclude);
  });
}

}  // namespace jari
