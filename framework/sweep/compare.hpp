#pragma once
// `jari compare`: the runs of a sweep, grouped over their seeds by the keys that vary, with mean and interval.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/sweep/statistics.hpp"

namespace jari {

struct CompareOptions {
  std::vector<std::string> by;       // key columns to keep; empty: all that vary
  std::vector<std::string> metrics;  // empty: all
};

struct ComparisonCell {
  std::vector<std::string> keys;                      // one display value for each column
  std::vector<std::optional<Statistics>> statistics;  // one for each metric; nothing: no run of the cell has it
};

struct Comparison {
  std::vector<std::string> columns;   // paths of the keys: "model.position"
  std::vector<std::string> metrics;   // paths in the run file: "evaluate/extrapolated/accuracy"
  std::vector<ComparisonCell> cells;  // in the order of the sweep
  std::vector<std::string> notes;     // for stderr: "2 of 60 trials are not finished: ..."
};

// Finds all run files at and below `paths`. SpecError for an unknown key or metric (with the nearest name and the
// list), StoreError if no run is found.
Comparison compare_runs(const std::vector<std::filesystem::path>& paths, const CompareOptions& options = {});

std::string comparison_text(const Comparison& comparison);  // aligned; mean ± half the interval's width
std::string comparison_csv(const Comparison& comparison);   // columns, metric,n,mean,sd,ci_low,ci_high,min,max

}  // namespace jari
