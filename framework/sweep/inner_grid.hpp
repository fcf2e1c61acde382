#pragma once
// `!grid [a, b]` inside of a value of a sweep: the value stands for several, one with each of the list's items.

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/spec_node.hpp"

namespace jari {

// {type: alibi, scale: !grid [1, 2]} -> {type: alibi, scale: 1}, {type: alibi, scale: 2}. Several lists are crossed,
// the last one fastest. An error, and no value, if they are too many.
std::vector<SpecNode> alternatives(const SpecNode& value, const std::string& place, Diagnostics& diagnostics);

// Reports each `!grid` at or below `node`, whose path is `path`, as one that stands outside of a sweep,
// and marks it as refused.
void refuse_grids(SpecNode& node, const std::string& path, Diagnostics& diagnostics);

}  // namespace jari
