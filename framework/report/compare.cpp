#include "framework/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/thread_pool.hpp"
#include "framework/report/bootstrap.hpp"
#include "framework/report/compare_baseline.hpp"
#include "framework/report/compare_remarks.hpp"
#include "framework/sweep/launcher.hpp"

namespace jari {
namespace {

// -- which metrics

std::vector<std::string> all_metrics(const std::vector<CollectedRun>& runs) {
  std::vector<std::string> all;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) all.push_back(name);
  };
  for (const CollectedRun& run : runs) {
    for (const MetricSummary& metric : run.summary.metrics) add(metric.name);
    for (const auto& [name, value] : run.summary.numbers) add(name);
  }
  return all;
}

void check_metric(const std::string& option, const std::string& name, const std::vector<std::string>& all) {
  if (std::ranges::find(all, name) == all.end())
    fail_unknown_name(option + ": no run has the metric", name, all, "metrics: " + joined(all));
}

ComparedMetric parse_success(const std::string& text) {
  const std::size_t sign = text.find_first_of("<>");
  ComparedMetric metric;
  if (sign != std::string::npos && sign > 0 && text.substr(sign + 1, 1) == "=") {
    ComparedMetric::Condition condition{text[sign] == '>', 0};
    const char *begin = text.data() + sign + 2, *end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(begin, end, condition.threshold);
    if (error == std::errc() && rest == end && std::isfinite(condition.threshold)) {
      metric.path = text.substr(0, sign);
      metric.success = condition;
      return metric;
    }
  }
  throw SpecError(
      fmt::format("--success: expected METRIC>=NUMBER or METRIC<=NUMBER, found '{}'; for example "
                  "'evaluate/extrapolated/accuracy>=0.9', in quotes for the shell",
                  text));
}

// Conditions take the place of their metric.
std::vector<ComparedMetric> select_metrics(const std::vector<CollectedRun>& runs, const CompareOptions& options) {
  const std::vector<std::string> all = all_metrics(runs);
  std::vector<ComparedMetric> conditions, selected;
  for (const std::string& text : options.success) {
    conditions.push_back(parse_success(text));
    check_metric("--success", conditions.back().path, all);
  }
  std::vector<std::string> paths = options.metrics;
  for (const std::string& path : paths) check_metric("--metric", path, all);
  if (paths.empty()) paths = all;
  for (const ComparedMetric& condition : conditions)
    if (std::ranges::find(paths, condition.path) == paths.end()) paths.push_back(condition.path);
  for (const std::string& path : paths) {
    const std::size_t before = selected.size();
    std::ranges::copy_if(conditions, std::back_inserter(selected),
                         [&](const ComparedMetric& condition) { return condition.path == path; });
    if (selected.size() == before) selected.push_back({path, std::nullopt});
  }
  return selected;
}

// -- statistics of the cells

std::optional<CellMetric> cell_metric(const RunCell& cell, const ComparedMetric& metric, MetricValue which) {
  CellMetric result;
  for (const CollectedRun* run : cell.runs) {
    const std::optional<double> value = run->summary.find(metric.path, which);
    if (!value) continue;
    result.seeds.push_back(run->summary.attributes.seed);
    result.values.push_back(metric.counted(*value));
  }
  if (result.values.empty()) return std::nullopt;
  result.statistics = summarize(result.values);
  if (metric.success) {
    const auto successes = std::ranges::count(result.values, 1.0);
    result.statistics.interval = wilson_interval(successes, result.statistics.count);
  }
  return result;
}

// Samples of one size share their resamples, and so most of the work.
void add_bootstrap(Comparison& comparison, ThreadPool& pool) {
  std::map<std::size_t, std::vector<CellMetric*>> by_size;
  for (ComparisonCell& cell : comparison.cells)
    for (std::size_t m = 0; m < cell.metrics.size(); ++m)
      if (auto& metric = cell.metrics[m]; metric && !comparison.metrics[m].success)
        if (metric->values.size() >= kFewestForBootstrap) by_size[metric->values.size()].push_back(&*metric);
  for (const auto& [size, metrics] : by_size) {
    std::vector<std::vector<double>> samples;
    for (const CellMetric* metric : metrics) samples.push_back(metric->values);
    const auto intervals = bootstrap_intervals(samples, pool);
    for (std::size_t i = 0; i < metrics.size(); ++i) metrics[i]->bootstrap = intervals[i];
  }
}

}  // namespace

std::string ComparedMetric::name() const {
  return success ? fmt::format("{}{}{}", path, success->at_least ? ">=" : "<=", success->threshold) : path;
}

double ComparedMetric::counted(double value) const {
  if (!success) return value;
  return (success->at_least ? value >= success->threshold : value <= success->threshold) ? 1 : 0;
}

Comparison compare_runs(const std::vector<std::filesystem::path>& paths, const CompareOptions& options) {
  const RunCollection collection = collect_runs(paths);
  Comparison comparison;
  comparison.notes = collection.notes;
  comparison.value = options.value;
  const std::vector<KeyColumn> columns = key_columns(collection.runs, options.by);
  for (const KeyColumn& column : columns) comparison.columns.push_back(column.path);
  comparison.metrics = select_metrics(collection.runs, options);
  const std::vector<RunCell> cells = cells_of(collection.runs, columns);
  for (const RunCell& cell : cells) {
    comparison.cells.push_back({cell.keys, false, {}});
    for (const ComparedMetric& metric : comparison.metrics)
      comparison.cells.back().metrics.push_back(cell_metric(cell, metric, options.value));
  }
  ThreadPool pool(usable_cores());
  if (options.bootstrap) add_bootstrap(comparison, pool);
  compare_with_baseline(collection.runs, cells, options.baseline, pool, comparison);
  add_remarks(cells, comparison);
  return comparison;
}

void keep_metrics(Comparison& comparison, const std::function<bool(const std::string& path)>& keep) {
  for (std::size_t i = comparison.metrics.size(); i-- > 0;) {
    if (keep(comparison.metrics[i].path)) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    const std::string name = comparison.metrics[i].name();
    std::erase_if(comparison.remarks, [&](const auto& remark) { return remark.first == name; });
    comparison.metrics.erase(comparison.metrics.begin() + at);
    for (ComparisonCell& cell : comparison.cells) cell.metrics.erase(cell.metrics.begin() + at);
  }
}

}  // namespace jari
