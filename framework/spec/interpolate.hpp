#pragma once
// ${train.length} and ${env:HOME} in the values of a spec.

#include "framework/base/diagnostic.hpp"
#include "framework/spec/spec_node.hpp"

namespace jari {

// A scalar that is one reference and nothing else, quoted or not, takes the kind and type of what it names; within a
// text the value's text is put in. References may name values with references in them.
void interpolate(SpecNode& root, Diagnostics& diagnostics);

}  // namespace jari
