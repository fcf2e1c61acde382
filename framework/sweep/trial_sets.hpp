#pragma once
// Some of a sweep's trials in words: "all with model.heads=3, model.width=16 or 32".

#include <optional>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/spec_node.hpp"
#include "framework/store/run_directory.hpp"

namespace jari {

// Values of one axis, in the order of the sweep.
struct AxisValues {
  std::string path;
  std::vector<std::string> values;

  bool operator==(const AxisValues&) const = default;
};

// The fewest axes whose values tell `some` trials (indices in order) from all others; nothing if none do. Every trial
// whose values are among those, and no other, is one of them. Of axes that say the same, the first is taken.
std::optional<std::vector<AxisValues>> common_values(const std::vector<const VaryingKeys*>& all,
                                                     const std::vector<std::size_t>& some);

// Values of axes of which each of `some` trials has at least one, and no other trial has any; nothing if there are none
// such. "Those with model.position=rope, and those with seed=44."
std::optional<std::vector<AxisValues>> separating_values(const std::vector<const VaryingKeys*>& all,
                                                         const std::vector<std::size_t>& some);

// "model.heads=3, model.width=16 or 32".
std::string to_text(const std::vector<AxisValues>& values);

// Without the seed: "model.position=rel, model.width=16".
std::string combination_text(const VaryingKeys& varying);

// A trial of a sweep, for the texts below.
struct TrialView {
  const VaryingKeys* varying;
  const SpecNode* tree;
};

// Fills in which trials have an error, and the `exclude` that drops exactly these if there is one.
void name_trials(Diagnostics& diagnostics, const std::vector<TrialView>& trials);

}  // namespace jari
