#pragma once
// `jari compare`: the runs of a sweep, grouped over their seeds by the keys that vary: means with intervals, success
// rates, and a paired test of each cell against a baseline. docs/statistics.md says what is computed and how.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/report/paired_test.hpp"
#include "framework/report/run_collection.hpp"
#include "framework/report/statistics.hpp"

namespace jari {

struct CompareOptions {
  std::vector<std::string> by = {};        // key columns to keep; empty: all that vary
  std::vector<std::string> metrics = {};   // empty: all
  std::vector<std::string> baseline = {};  // "model.position=learned", all of which hold; empty: the sweep's own
  std::vector<std::string> success = {};   // "evaluate/longer/accuracy>=0.9": the share of runs instead of the mean
  MetricValue value = MetricValue::last;
  bool bootstrap = false;  // add bootstrap intervals
};

enum class Verdict { differs, no_difference_seen, too_few_seeds };

// A cell against the baseline's cell, by seeds that both have.
struct BaselineComparison {
  std::int64_t seeds = 0;
  Statistics difference;  // cell minus baseline
  // Nothing if a difference is not finite.
  std::optional<SignFlipTest> test;
  double p_holm = 1;  // among all comparisons of the metric
  Verdict verdict = Verdict::too_few_seeds;
  std::int64_t fewest_seeds = 0;  // with which the test can come out at all
  // To see a difference of this size with a chance of 80 %; nothing if that can not be told, or these seeds are enough.
  std::optional<std::int64_t> needed_seeds;
};

struct CellMetric {
  std::vector<std::uint64_t> seeds;
  std::vector<double> values;         // one for each seed; of a success condition 0 or 1
  Statistics statistics;              // of a success condition the interval is Wilson's
  std::optional<Interval> bootstrap;  // of the mean; from eight values on
  std::optional<BaselineComparison> against_baseline;
};

struct ComparisonCell {
  std::vector<std::string> keys;  // one display value for each column
  bool is_baseline = false;
  std::vector<std::optional<CellMetric>> metrics;  // nothing: no run of the cell has it
};

struct ComparedMetric {
  std::string path;  // in the run file: "evaluate/extrapolated/accuracy"
  // Set: a run counts as 1 if its value is at least (at most) this, else as 0; NaN is 0.
  struct Condition {
    bool at_least = true;
    double threshold = 0;
  };
  std::optional<Condition> success;

  std::string name() const;            // the path, with the condition: "evaluate/extrapolated/accuracy>=0.9"
  double counted(double value) const;  // the value itself, or with a condition 1 or 0
};

struct Comparison {
  std::vector<std::string> columns;  // paths of the keys: "model.position"
  std::vector<ComparedMetric> metrics;
  std::vector<ComparisonCell> cells;  // in the order of the sweep
  std::string baseline;               // "model.position=learned"; empty: there is none
  MetricValue value = MetricValue::last;
  std::vector<std::pair<std::string, std::string>> remarks;  // metric's name and what strikes about its numbers
  std::vector<std::string> notes;  // what was left out, for stderr: "2 of 60 trials are not finished: ..."
};

// Finds all run files at and below `paths`. SpecError for an unknown key, metric or baseline (with the nearest name and
// the list), or a success condition that does not parse; StoreError if no run is found.
Comparison compare_runs(const std::vector<std::filesystem::path>& paths, const CompareOptions& options = {});

// Drops the other metrics. Their tests do not change: Holm's correction is within a metric.
void keep_metrics(Comparison& comparison, const std::function<bool(const std::string& path)>& keep);

std::string comparison_text(const Comparison& comparison);  // aligned; mean ± half the interval's width
std::string comparison_markdown(const Comparison& comparison);
std::string comparison_latex(const Comparison& comparison);  // a tabular; needs the package booktabs
// Columns, metric,n,mean,sd,ci_low,ci_high,min,max, then bootstrap interval and test.
std::string comparison_csv(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);

}  // namespace jari
