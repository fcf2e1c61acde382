#include "framework/report/compare_remarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jari {
namespace {

std::string in_cells(const Comparison& comparison, std::size_t count, const ComparisonCell& most, const char* joint) {
  const std::string name = cell_name(comparison, most);
  if (name.empty()) return "";
  if (count == 1) return fmt::format(" in {}", name);
  return fmt::format(" in {} of {} cells, {} in {}", count, comparison.cells.size(), joint, name);
}

// Means over the runs of a cell, and the middle of the steps of the best values.
struct BestAndLast {
  double best = 0, last = 0, worst = 0;
  std::int64_t best_step = 0;

  double lost() const { return std::abs(best - last) / std::abs(best - worst); }  // share of the way
};

// Nothing where the two differ too little to speak of.
std::optional<BestAndLast> best_and_last(const RunCell& cell, const std::string& metric) {
  BestAndLast sum;
  std::vector<std::int64_t> steps;
  std::vector<double> last;
  for (const CollectedRun* run : cell.runs) {
    const auto& metrics = run->summary.metrics;
    const auto found = std::ranges::find(metrics, metric, &MetricSummary::name);
    if (found == metrics.end()) continue;
    sum.best += found->best;
    sum.worst += found->worst;
    last.push_back(found->last);
    steps.push_back(found->best_step);
  }
  if (steps.empty()) return std::nullopt;
  const auto count = static_cast<double>(steps.size());
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  const Statistics of_last = summarize(last);
  const BestAndLast result{sum.best / count, of_last.mean, sum.worst / count, *middle};
  const double difference = std::abs(result.best - result.last);
  const bool is_clear = !of_last.interval || difference > of_last.mean - of_last.interval->low;
  const bool is_large = difference > 0.05 * std::max(std::abs(result.best), std::abs(result.last));
  // Without any way from worst to best the share is NaN, which is not more than a tenth.
  if (!is_clear || !is_large || !(result.lost() > 0.1)) return std::nullopt;
  return result;
}

std::optional<std::string> best_and_last_remark(const std::vector<RunCell>& cells, const Comparison& comparison,
                                                const ComparedMetric& metric) {
  std::size_t count = 0, most = 0;
  BestAndLast shown;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto of_cell = best_and_last(cells[i], metric.path);
    if (!of_cell || (++count > 1 && of_cell->lost() <= shown.lost())) continue;
    shown = *of_cell;
    most = i;
  }
  if (count == 0) return std::nullopt;
  return fmt::format("best and last value differ{}: best {:.3g} at step {}, last {:.3g}",
                     in_cells(comparison, count, comparison.cells[most], "most"), shown.best, shown.best_step,
                     shown.last);
}

std::optional<std::string> modes_remark(const Comparison& comparison, std::size_t metric) {
  std::size_t count = 0;
  const ComparisonCell* first = nullptr;
  double gap = 0;
  for (const ComparisonCell& cell : comparison.cells) {
    if (!cell.metrics[metric]) continue;
    const std::optional<double> found = gap_between_modes(cell.metrics[metric]->values);
    if (found && ++count == 1) {
      first = &cell;
      gap = *found;
    }
  }
  if (count == 0) return std::nullopt;
  const std::string& path = comparison.metrics[metric].path;
  return fmt::format("the seeds fall into two groups{}: --success '{}{}{:.2g}' shows how many reach the better one",
                     in_cells(comparison, count, *first, "first"), path, smaller_is_better(path) ? "<=" : ">=", gap);
}

}  // namespace

std::string cell_name(const Comparison& comparison, const ComparisonCell& cell) {
  std::string name;
  for (std::size_t i = 0; i < cell.keys.size(); ++i)
    if (!cell.keys[i].empty()) name += (name.empty() ? "" : ", ") + comparison.columns[i] + "=" + cell.keys[i];
  return name;
}

void add_remarks(const std::vector<RunCell>& cells, Comparison& comparison) {
  for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
    const ComparedMetric& metric = comparison.metrics[m];
    if (const auto remark = best_and_last_remark(cells, comparison, metric))
      comparison.remarks.emplace_back(metric.name(), *remark);
    if (metric.success) continue;
    if (const auto remark = modes_remark(comparison, m)) comparison.remarks.emplace_back(metric.name(), *remark);
  }
}

}  // namespace jari
