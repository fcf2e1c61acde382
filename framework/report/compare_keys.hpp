#pragma once
// What tells the trials of a sweep from each other: the keys of their resolved specs that vary.

#include <string>
#include <vector>

#include "framework/spec/spec_node.hpp"

namespace jari {

struct KeyColumn {
  std::string path;                 // "model.position"
  std::vector<std::string> values;  // how each trial's value is shown; "" where the trial has no such key

  bool operator==(const KeyColumn&) const = default;
};

// One tree for each trial; null where a trial lacks it.
using SpecTrees = std::vector<const SpecNode*>;

// A component block whose `type` varies is one column, with its type and the keys that tell blocks of that type apart:
// "rel", "rel (unseen=clamp)". A key that always has the value of an earlier column (by interpolation) adds none.
// Seeds, names, notes and the sweep itself are no keys.
std::vector<KeyColumn> varying_columns(const SpecTrees& trees);

// The column of one key or block, whether it varies or not.
KeyColumn column_of(const SpecTrees& trees, const std::string& path);

}  // namespace jari
