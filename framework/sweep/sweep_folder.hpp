#pragma once
// runs/<experiment>/sweep.yaml: the spec that a folder belongs to.

#include <filesystem>
#include <optional>

#include "framework/sweep/sweep.hpp"
#include "framework/train/record.hpp"

namespace jari {

inline constexpr const char* kSweepFile = "sweep.yaml";

// A spec may grow (more seeds, more values of an axis) and keep its folder. One that shares no trial with what the
// folder was made for is another experiment: StoreError with the keys that differ. Also if the folder is not a sweep's.
void refuse_other_sweep(const std::filesystem::path& folder, const Sweep& sweep, const SpecNode& spec);

// The spec (composed, with overrides), its text as given, and the trials with their folders.
void write_sweep_file(const std::filesystem::path& folder, const Sweep& sweep, const SpecNode& spec,
                      const Provenance& provenance);

// The spec in a folder's sweep.yaml, however many trials are listed behind it. Nothing if there is no such file, or it
// can not be read.
std::optional<SpecNode> read_sweep_spec(const std::filesystem::path& folder);

}  // namespace jari
