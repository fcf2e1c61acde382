#pragma once
// One trial: a resolved spec with one seed, and its identity.

#include <string>

#include "framework/component/init.hpp"
#include "framework/spec/spec_node.hpp"
#include "framework/train/experiment.hpp"

namespace jari {

struct Trial {
  std::int64_t index = 0;  // in the order of the sweep
  Experiment experiment;
  SpecNode resolved;   // all keys, defaults filled in
  std::string hash;    // of what changes its results: 32 hexadecimal digits
  std::string group;   // hash of what must be equal in a fused group
  std::string label;   // "position=rel,seed=42"
  std::string folder;  // name below the experiment's: label and the first digits of the hash

  std::uint64_t seed() const { return static_cast<std::uint64_t>(experiment.seed); }
};

// Numbers by their path in a resolved spec.
class ResolvedValues final : public TrialValues {
 public:
  explicit ResolvedValues(const SpecNode& resolved) : resolved_(resolved) {}
  double number(const std::string& spec_path) const override;

 private:
  const SpecNode& resolved_;
};

}  // namespace jari
