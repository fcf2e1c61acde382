#include "framework/report/compare_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jari {
namespace {

// Shares of one are shown in percent.
bool is_share(const ComparedMetric& metric) {
  return metric.success || metric.path.substr(metric.path.rfind('/') + 1).starts_with("accuracy");
}

std::optional<double> half_width(const Statistics& statistics) {
  if (!statistics.interval) return std::nullopt;
  return (statistics.interval->high - statistics.interval->low) / 2;
}

std::string with_half_width(const ComparedMetric& metric, const Statistics& statistics) {
  const auto half = half_width(statistics);
  if (is_share(metric)) {
    const std::string mean = fmt::format("{:.2f}", 100 * statistics.mean);
    return half ? fmt::format("{} ± {:.2f} %", mean, 100 * *half) : mean + " %";
  }
  const std::string mean = fmt::format("{:.5g}", statistics.mean);
  return half ? fmt::format("{} ± {:.2g}", mean, *half) : mean;
}

// With a sign, and never rounded to nothing.
std::string shown_difference(const ComparedMetric& metric, const Statistics& difference) {
  const auto half = half_width(difference);
  const double scale = is_share(metric) ? 100 : 1;
  const double mean = scale * difference.mean;
  const bool two_decimals = is_share(metric) && (mean == 0 || std::abs(mean) >= 0.01);
  std::string text = two_decimals ? fmt::format("{:+.2f}", mean) : fmt::format("{:+.3g}", mean);
  if (half) text += two_decimals ? fmt::format(" ± {:.2f}", scale * *half) : fmt::format(" ± {:.2g}", scale * *half);
  return is_share(metric) ? text + " %" : text;
}

std::string with_interval(const ComparedMetric& metric, double mean, const Interval& interval) {
  if (metric.success)
    return fmt::format("{:.0f} [{:.0f}, {:.0f}] %", 100 * mean, 100 * interval.low, 100 * interval.high);
  if (is_share(metric))
    return fmt::format("{:.2f} [{:.2f}, {:.2f}] %", 100 * mean, 100 * interval.low, 100 * interval.high);
  return fmt::format("{:.5g} [{:.4g}, {:.4g}]", mean, interval.low, interval.high);
}

std::string show(const ComparedMetric& metric, const CellMetric& value) {
  if (metric.success && value.statistics.interval)
    return with_interval(metric, value.statistics.mean, *value.statistics.interval);
  if (value.bootstrap) return with_interval(metric, value.statistics.mean, *value.bootstrap);
  return with_half_width(metric, value.statistics);
}

std::string shown_p(const BaselineComparison& comparison) {
  if (!comparison.test) return "-";
  return comparison.p_holm < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", comparison.p_holm);
}

std::string shown_verdict(const BaselineComparison& comparison) {
  if (!comparison.test) return "not a number";
  const auto& needed = comparison.needed_seeds;
  switch (comparison.verdict) {
    case Verdict::differs:
      return "differs";
    case Verdict::no_difference_seen:
      return needed ? fmt::format("no difference seen (n={} might show it)", *needed) : "no difference seen";
    case Verdict::too_few_seeds:
      return fmt::format(
          "too few seeds to tell: n={}, {} needed", comparison.seeds,
          needed ? fmt::format("about {}", *needed) : fmt::format("at least {}", comparison.fewest_seeds));
  }
  return "";
}

template <class Test>
bool any_value(const Comparison& comparison, const Test& test) {
  for (const ComparisonCell& cell : comparison.cells)
    for (std::size_t m = 0; m < cell.metrics.size(); ++m)
      if (cell.metrics[m] && test(comparison.metrics[m], *cell.metrics[m])) return true;
  return false;
}

std::string test_footnote(const Comparison& comparison) {
  const bool random = any_value(comparison, [](const ComparedMetric&, const CellMetric& value) {
    return value.against_baseline && value.against_baseline->test && !value.against_baseline->test->exact;
  });
  std::size_t most = 0;
  for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
    const auto count = std::ranges::count_if(comparison.cells, [m](const ComparisonCell& cell) {
      return cell.metrics[m] && cell.metrics[m]->against_baseline && cell.metrics[m]->against_baseline->test;
    });
    most = std::max(most, static_cast<std::size_t>(count));
  }
  return fmt::format(
      "p: two-sided sign-flip test of the differences, seed by seed, {}; by Holm over the {} comparison{} "
      "of a metric",
      random ? fmt::format("exact up to n={}, else from random flips", kMostExactPairs) : "exact", most,
      most == 1 ? "" : "s");
}

}  // namespace

std::int64_t shown_runs(const ComparisonCell& cell) {
  std::int64_t most = 0;
  for (const auto& metric : cell.metrics)
    if (metric) most = std::max(most, metric->statistics.count);
  return most;
}

std::string shown_statistics(const Comparison& comparison, std::size_t cell, std::size_t metric) {
  const std::optional<CellMetric>& value = comparison.cells[cell].metrics[metric];
  if (!value) return "-";
  const std::string text = show(comparison.metrics[metric], *value);
  const std::int64_t count = value->statistics.count;
  return count == shown_runs(comparison.cells[cell]) ? text : fmt::format("{} (n={})", text, count);
}

std::vector<TestRow> test_rows(const Comparison& comparison) {
  std::vector<TestRow> rows;
  for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
    for (std::size_t c = 0; c < comparison.cells.size(); ++c) {
      const auto& value = comparison.cells[c].metrics[m];
      if (!value || !value->against_baseline) continue;
      const BaselineComparison& against = *value->against_baseline;
      rows.push_back({m, c, std::to_string(against.seeds), shown_difference(comparison.metrics[m], against.difference),
                      shown_p(against), shown_verdict(against)});
    }
  }
  return rows;
}

std::vector<std::string> footnotes(const Comparison& comparison) {
  std::vector<std::string> notes;
  if (comparison.value == MetricValue::best) notes.push_back("each run's best value, not its last");
  if (any_value(comparison, [](const ComparedMetric& metric, const CellMetric& value) {
        return !metric.success && !value.bootstrap && value.statistics.interval;
      }))
    notes.push_back("±: half of the 95 % confidence interval of the mean (Student's t over the n trials)");
  if (any_value(comparison, [](const ComparedMetric&, const CellMetric& value) { return value.bootstrap.has_value(); }))
    notes.push_back("[ ]: 95 % confidence interval of the mean (bootstrap, BCa)");
  if (any_value(comparison, [](const ComparedMetric& metric, const CellMetric&) { return metric.success.has_value(); }))
    notes.push_back("share of runs that meet the condition, with its 95 % confidence interval (Wilson)");
  if (any_value(comparison,
                [](const ComparedMetric&, const CellMetric& value) { return value.against_baseline.has_value(); }))
    notes.push_back(test_footnote(comparison));
  for (const auto& [metric, remark] : comparison.remarks) notes.push_back(fmt::format("{}: {}", metric, remark));
  return notes;
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::differs:
      return "differs";
    case Verdict::no_difference_seen:
      return "no_difference_seen";
    case Verdict::too_few_seeds:
      return "too_few_seeds";
  }
  return "";
}

}  // namespace jari
