#pragma once
// Sweeps made from the text of a spec, with the built-in components.

#include <string>
#include <vector>

#include "framework/registry/registry.hpp"
#include "framework/spec/compose.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/sweep/sweep.hpp"

namespace jari::test {

struct ParsedSweep {
  SpecNode spec;
  Sweep sweep;
};

// Throws SpecError.
inline ParsedSweep sweep_of(const std::string& yaml, const std::vector<std::string>& overrides = {},
                            const SweepOptions& options = {}) {
  static const Registry registry = [] {
    Registry builtin;
    register_builtin_plugins(builtin);
    return builtin;
  }();
  Diagnostics diagnostics;
  ParsedSweep result;
  result.spec = read_yaml_text(yaml, "test.yaml", diagnostics);
  set_overrides(result.spec, overrides, diagnostics);
  diagnostics.throw_if_any();
  result.sweep = make_sweep(result.spec, registry, diagnostics, options);
  diagnostics.throw_if_any();
  return result;
}

// A probe that trains in milliseconds.
inline const char* const kSmallSpec = R"(experiment: small
task: {type: neighbor, vocabulary: 7, offset: 1}
model: {type: probe, width: 8, position: {type: rel, max_length: 12}}
train:
  steps: 60
  batch: 4
  length: 6
  optimizer: {type: adam, lr: 1e-2}
  log_every: 10
  checkpoint: {every: 20}
evaluate:
  same: {length: 6, sequences: 10, batch: 4}
  longer: {length: 12, sequences: 10, seen: 5}
)";

}  // namespace jari::test
