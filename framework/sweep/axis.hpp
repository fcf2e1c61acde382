#pragma once
// One dimension of a sweep: choices, of which every trial takes one. A key of `grid` is an axis, the whole of `list`, a
// mapping of `zip`, the points of `random` and `sobol`.

#include <map>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/spec_node.hpp"
#include "framework/sweep/value_labels.hpp"

namespace jari {

struct AxisSetting {
  std::string path;
  SourceSpan span;  // of the path
  SpecNode value;
  std::string label;  // of the value, for people
};

struct AxisChoice {
  std::vector<AxisSetting> settings;
};

struct Axis {
  std::string place;  // "sweep.grid.model.width"
  SourceSpan span;
  std::vector<std::string> paths;
  std::vector<AxisChoice> choices;
};

// What a sweep may declare, so that no spec, however it is nested, takes all memory: trials, and values of all their
// trees together.
inline constexpr std::size_t kMostTrials = 100000;
inline constexpr std::size_t kMostValues = 20'000'000;

// Values in a tree, itself included.
std::size_t count_values(const SpecNode& node);

// A choice for each row, which is a mapping of paths to values. `labels`: of the paths whose rows do not hold all of
// their values.
Axis make_axis(std::string place, SourceSpan span, const std::vector<SpecNode>& rows,
               const std::map<std::string, ValueLabels>& labels = {});

// The axes that `list`, `zip` and `grid` declare, in this order. `place`: of the block that holds them, "sweep".
std::vector<Axis> read_axes(const SpecNode& list, const SpecNode& zip, const SpecNode& grid, const std::string& place,
                            Diagnostics& diagnostics);

// Seeds repeat what a sweep varies, and are no part of it: an error for such a path.
bool refuse_seed(const SourceSpan& span, const std::string& path, const std::string& place, Diagnostics& diagnostics);

}  // namespace jari
