#include "framework/sweep/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "framework/base/edit_distance.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/key_paths.hpp"
#include "framework/spec/scalar.hpp"
#include "framework/sweep/axis.hpp"

namespace jari {
namespace {

bool same_scalar(const SpecNode& left, const SpecNode& right) {
  if (!left.quoted && !right.quoted) {
    const auto left_number = parse_number(left.text), right_number = parse_number(right.text);
    if (left_number && right_number) return *left_number == *right_number;
  }
  return left.text == right.text;
}

// "position: sin" is short for "position: {type: sin}".
const SpecNode* type_of(const SpecNode& node) { return node.is_mapping() ? node.find("type") : &node; }

bool has_value(const SpecNode& found, const SpecNode& wanted) {
  if (wanted.is_scalar()) {
    const SpecNode* scalar = type_of(found);
    return scalar != nullptr && scalar->is_scalar() && same_scalar(*scalar, wanted);
  }
  if (wanted.is_sequence()) {
    return found.is_sequence() &&
           std::equal(found.items.begin(), found.items.end(), wanted.items.begin(), wanted.items.end(), has_value);
  }
  return std::ranges::all_of(wanted.entries, [&found](const SpecEntry& entry) {
    const SpecNode* child = entry.key == "type" ? type_of(found) : found.find(entry.key);
    return child != nullptr && has_value(*child, entry.value);
  });
}

const SpecNode* find_key(const SpecNode& tree, const std::string& path) {
  if (const SpecNode* node = tree.find_path(path)) return node;
  constexpr std::string_view kType = ".type";
  if (!path.ends_with(kType)) return nullptr;
  const SpecNode* component = tree.find_path(path.substr(0, path.size() - kType.size()));
  return component != nullptr && component->is_scalar() ? component : nullptr;
}

bool holds(const SpecNode& tree, const Condition& condition) {
  const SpecNode* node = find_key(tree, condition.path);
  return node != nullptr &&
         std::ranges::any_of(condition.values, [node](const SpecNode& value) { return has_value(*node, value); });
}

bool is_usable(const SpecNode& value) {
  return !value.is_null() && !value.grid && !(value.is_mapping() && value.entries.empty());
}

std::string nearest_key(const std::string& path, const std::vector<const SpecNode*>& trees) {
  std::set<std::string> paths;
  for (const SpecNode* tree : trees) std::ranges::move(all_key_paths(*tree), std::inserter(paths, paths.end()));
  const auto near = closest(path, {paths.begin(), paths.end()});
  if (near) return fmt::format("did you mean '{}'?", *near);
  return "a key that is left to its default can not be asked for: set it in the spec, or in an axis";
}

// The values that the trials have at a key, as a condition would name them.
std::vector<std::string> values_at(const std::string& path, const std::vector<const SpecNode*>& trees) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const SpecNode* tree : trees) {
    const SpecNode* node = find_key(*tree, path);
    if (node == nullptr) continue;
    const SpecNode* type = type_of(*node);
    std::string text = to_flow_yaml(type ? *type : *node);
    if (seen.insert(text).second) values.push_back(std::move(text));
  }
  return values;
}

void refuse_value(const Condition& condition, const SpecNode& value, const std::vector<const SpecNode*>& trees,
                  const std::string& place, Diagnostics& diagnostics) {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> values = values_at(condition.path, trees);
  const auto near = value.is_scalar() ? closest(value.text, values) : std::nullopt;
  const std::string more = values.size() > kMostNamed ? " ..." : "";
  values.resize(std::min(values.size(), kMostNamed));
  diagnostics.error(
      value.span, place + "." + condition.path, fmt::format("no trial has the value {}", to_flow_yaml(value)),
      fmt::format("{}there are {}{}", near ? fmt::format("did you mean '{}'? ", *near) : "", joined(values), more));
}

}  // namespace

Conditions read_conditions(const SpecNode& mapping, const std::string& place, Diagnostics& diagnostics) {
  Conditions conditions;
  if (mapping.entries.empty()) {
    diagnostics.error(mapping.span, place, "no condition",
                      "write for example {model.position: sin, model.heads: [4, 8]}");
  }
  for (const SpecEntry& entry : mapping.entries) {
    const std::string own_place = place + "." + entry.key;
    if (refuse_seed(entry.key_span, entry.key, own_place, diagnostics)) continue;
    const bool is_list = entry.value.is_sequence() && !entry.value.grid;
    Condition condition{entry.key, entry.key_span, is_list ? entry.value.items : std::vector<SpecNode>{entry.value}};
    if (condition.values.empty() || !std::ranges::all_of(condition.values, is_usable)) {
      diagnostics.error(entry.value.span, own_place,
                        fmt::format("expected a value or a list of values, found {}",
                                    entry.value.grid ? "!grid" : describe_value(entry.value)),
                        entry.value.grid ? "a list without !grid says it: the key has one of its values" : "");
      continue;
    }
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

bool fulfills(const SpecNode& tree, const Conditions& conditions) {
  return std::ranges::all_of(conditions, [&tree](const Condition& condition) { return holds(tree, condition); });
}

void refuse_unfulfilled(const Conditions& conditions, const std::vector<const SpecNode*>& trees,
                        const std::string& place, Diagnostics& diagnostics) {
  bool all_there = true;
  for (const Condition& condition : conditions) {
    const auto has_key = [&](const SpecNode* tree) { return find_key(*tree, condition.path) != nullptr; };
    if (std::ranges::none_of(trees, has_key)) {
      all_there = false;
      diagnostics.error(condition.span, place, fmt::format("no trial has the key '{}'", condition.path),
                        nearest_key(condition.path, trees));
      continue;
    }
    for (const SpecNode& value : condition.values) {
      const Condition alone{condition.path, condition.span, {value}};
      if (std::ranges::any_of(trees, [&](const SpecNode* tree) { return holds(*tree, alone); })) continue;
      all_there = false;
      refuse_value(condition, value, trees, place, diagnostics);
    }
  }
  if (!all_there || std::ranges::any_of(trees, [&](const SpecNode* tree) { return fulfills(*tree, conditions); })) {
    return;
  }
  diagnostics.error(conditions.front().span, place, "no trial fulfills all of these conditions",
                    "each is fulfilled by some trial: are they meant to hold together?");
}

}  // namespace jari
