#pragma once
// Conditions on the keys of a trial: `exclude`, `if` of `when`, `baseline`. They look at the trial's tree before it is
// bound, so that a combination that can not be built can be excluded.

#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/spec_node.hpp"

namespace jari {

struct Condition {
  std::string path;
  SourceSpan span;               // of the path
  std::vector<SpecNode> values;  // the key has one of them
};

// All of them must hold.
using Conditions = std::vector<Condition>;

// A mapping of paths to a value or a list of values.
Conditions read_conditions(const SpecNode& mapping, const std::string& place, Diagnostics& diagnostics);

// Numbers are compared as numbers. A component is told by its name ("rel", at model.position or model.position.type),
// or by a mapping of some of its keys.
bool fulfills(const SpecNode& tree, const Conditions& conditions);

// Reports what no trial can fulfill: a key that none has, a value that none has at its key, and, if all of these are
// there, that no trial has them together.
void refuse_unfulfilled(const Conditions& conditions, const std::vector<const SpecNode*>& trees,
                        const std::string& place, Diagnostics& diagnostics);

}  // namespace jari
