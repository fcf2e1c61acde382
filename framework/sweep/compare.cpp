#include "framework/sweep/compare.hpp"

#include <fmt/format.h>

#include <set>

#include "framework/base/text.hpp"
#include "framework/sweep/run_collection.hpp"

namespace jari {
namespace {

std::vector<std::string> select_metrics(const std::vector<CollectedRun>& runs, const std::vector<std::string>& wanted) {
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const CollectedRun& run : runs)
    for (const auto& [name, value] : run.summary.values)
      if (seen.insert(name).second) all.push_back(name);
  for (const std::string& name : wanted)
    if (!seen.contains(name))
      fail_unknown_name("--metric: no run has the metric", name, all, "metrics: " + joined(all));
  return wanted.empty() ? all : wanted;
}

ComparisonCell make_cell(const RunCell& runs_of_cell, const std::vector<std::string>& metrics) {
  ComparisonCell cell{runs_of_cell.keys, {}};
  for (const std::string& metric : metrics) {
    std::vector<double> values;
    for (const CollectedRun* run : runs_of_cell.runs)
      if (const double* value = run->find(metric)) values.push_back(*value);
    cell.statistics.push_back(values.empty() ? std::nullopt : std::optional(summarize(values)));
  }
  return cell;
}

}  // namespace

Comparison compare_runs(const std::vector<std::filesystem::path>& paths, const CompareOptions& options) {
  const RunCollection collection = collect_runs(paths);
  Comparison comparison;
  comparison.notes = collection.notes;
  const std::vector<KeyColumn> columns = key_columns(collection.runs, options.by);
  for (const KeyColumn& column : columns) comparison.columns.push_back(column.path);
  comparison.metrics = select_metrics(collection.runs, options.metrics);
  for (const RunCell& cell : cells_of(collection.runs, columns))
    comparison.cells.push_back(make_cell(cell, comparison.metrics));
  return comparison;
}

}  // namespace jari
