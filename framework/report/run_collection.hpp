#pragma once
// The finished runs at and below some folders, and the keys of their specs that tell them apart: what tables and
// pictures are made from.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "framework/report/compare_keys.hpp"
#include "framework/spec/spec_node.hpp"
#include "framework/store/run_file.hpp"

namespace jari {

struct CollectedRun {
  RunSummary summary;
  std::shared_ptr<const SpecNode> spec;  // resolved; shared by runs that differ in nothing but `seed`, which is one's
};

struct RunCollection {
  std::vector<CollectedRun> runs;  // in the order of the sweep, each trial once
  std::vector<std::string> notes;  // what was left out, for stderr: "2 of 60 trials are not finished: ..."
};

// StoreError if a path does not exist, or no finished run is found.
RunCollection collect_runs(const std::vector<std::filesystem::path>& paths);

// The columns of the keys `by`; if there are none, of all that vary. SpecError for a key that no run has; `option` is
// where the user named it.
std::vector<KeyColumn> key_columns(const std::vector<CollectedRun>& runs, const std::vector<std::string>& by,
                                   const std::string& option = "--by");

// The runs that agree in all columns: one for each seed, where nothing else is pooled.
struct RunCell {
  std::vector<std::string> keys;  // one display value for each column
  std::vector<const CollectedRun*> runs;
};

// In the order of their first runs.
std::vector<RunCell> cells_of(const std::vector<CollectedRun>& runs, const std::vector<KeyColumn>& columns);

// SpecError "WHAT 'NAME'; did you mean 'CANDIDATE'? LIST".
[[noreturn]] void fail_unknown_name(const std::string& what, const std::string& name,
                                    const std::vector<std::string>& candidates, const std::string& list);

}  // namespace jari
