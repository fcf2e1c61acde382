#pragma once
// From files to one tree: `extends`, overrides of the command line, interpolation. The sweep sets its axes between the
// last two, so that an interpolated value follows the axis.

#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/spec_node.hpp"

namespace jari {

// Reads a spec, merges what it extends (paths relative to the file that names them) and sets overrides, "KEY=VALUE"
// each: "train.optimizer.lr=1e-3", "groups.0.lr=0.1", "sweep.grid.model.width=[16, 32]". A value is YAML and replaces
// what was there.
SpecNode compose_spec(const std::string& path, const std::vector<std::string>& overrides, Diagnostics& diagnostics);

// Overrides alone, on a tree that is there.
void set_overrides(SpecNode& root, const std::vector<std::string>& overrides, Diagnostics& diagnostics);

// compose_spec, then interpolate.
SpecNode load_spec(const std::string& path, const std::vector<std::string>& overrides, Diagnostics& diagnostics);

// Sets the value at a dotted path and makes the mappings on the way there. The short form of a component
// (`position: none`) on the way becomes a mapping with its `type`. `key_span` is where the path is written.
void set_path(SpecNode& root, const std::string& path, SpecNode value, const SourceSpan& key_span,
              Diagnostics& diagnostics);

// Deep merge: mappings by key, everything else replaced; a mapping with `replace` too.
void merge_into(SpecNode& base, SpecNode over);

}  // namespace jari
