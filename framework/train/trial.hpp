#pragma once
// One trial: a resolved spec with one seed, and its identity.

#include <string>

#include "framework/base/diagnostic.hpp"
#include "framework/component/init.hpp"
#include "framework/registry/registry.hpp"
#include "framework/spec/spec_node.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/train/experiment.hpp"

namespace jari {

struct Trial {
  std::int64_t index = 0;  // in the order of the sweep
  Experiment experiment;
  SpecNode resolved;    // all keys, defaults filled in
  std::string hash;     // of what changes its results: 32 hexadecimal digits
  std::string group;    // hash of what must be equal in a fused group
  VaryingKeys varying;  // the axes' paths with this trial's readable values; the seed last
  std::string label;    // "position=rel,seed=42"
  std::string folder;   // name below the experiment's: label and the first digits of the hash

  std::uint64_t seed() const { return static_cast<std::uint64_t>(experiment.seed); }
};

// The trial of one trial's spec: bound, resolved, with its hashes; index, label and folder are left to the caller.
// Mistakes end in `diagnostics`, and the result is only to be used if there are none.
Trial bind_trial(const SpecNode& spec, const Registry& registry, Diagnostics& diagnostics);

// Of all that changes the results but the seed: trials of one combination differ in it alone.
std::string combination_of(const Trial& trial);

// Numbers by their path in a resolved spec.
class ResolvedValues final : public TrialValues {
 public:
  explicit ResolvedValues(const SpecNode& resolved) : resolved_(resolved) {}
  double number(const std::string& spec_path) const override;

 private:
  const SpecNode& resolved_;
};

}  // namespace jari
