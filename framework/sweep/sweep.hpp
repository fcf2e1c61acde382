#pragma once
// From a spec file to the trials that it declares and the groups that train fused.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/registry/registry.hpp"
#include "framework/train/trial.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {

// Trials of one shape, as indices into Sweep::trials.
struct TrialGroup {
  std::vector<std::size_t> trials;
  std::unique_ptr<TrialPrograms> programs;
};

struct Sweep {
  std::string experiment;         // names the folder
  std::vector<std::string> axes;  // paths of the keys that vary, in the order of the spec
  std::vector<Trial> trials;      // in order, seeds innermost; equal trials once
  std::vector<TrialGroup> groups;
  std::size_t declared = 0;  // before equal trials collapsed
  std::size_t excluded = 0;  // by sweep.exclude, not among the declared
  OnFailure on_failure = OnFailure::go_on;
  std::int64_t retries = 0;
};

struct SweepOptions {
  bool rewrites = true;
};

// Expands and binds every trial and builds the graph of every group; all mistakes end in `diagnostics`, and the result
// is only to be used if there are none.
Sweep make_sweep(const SpecNode& spec, const Registry& registry, Diagnostics& diagnostics,
                 const SweepOptions& options = {});

// The spec's trees of single trials, in order, before binding: axes set, one seed each.
struct Expansion {
  std::vector<std::string> axes;
  struct Cell {
    SpecNode spec;
    VaryingKeys varying;  // axis and readable value; the seed last
  };
  std::vector<Cell> cells;
  std::size_t excluded = 0;  // trials that sweep.exclude dropped
  OnFailure on_failure = OnFailure::go_on;
  std::int64_t retries = 0;
};

// Axes apply in the order list, zip, grid, random or sobol, when; the last is the fastest. The trials depend on nothing
// but the spec.
Expansion expand(const SpecNode& spec, Diagnostics& diagnostics);

}  // namespace jari
