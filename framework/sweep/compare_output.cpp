// How a comparison is shown.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/table.hpp"
#include "framework/base/text.hpp"
#include "framework/sweep/compare.hpp"

namespace jari {
namespace {

constexpr int kTableWidth = 110;

bool is_share(const std::string& metric) { return metric.substr(metric.rfind('/') + 1).starts_with("accuracy"); }

std::optional<double> half_width(const Statistics& statistics) {
  if (!statistics.interval) return std::nullopt;
  return (statistics.interval->high - statistics.interval->low) / 2;
}

std::string show(const std::string& metric, const Statistics& statistics) {
  const auto half = half_width(statistics);
  if (is_share(metric)) {
    const std::string mean = fmt::format("{:.2f}", 100 * statistics.mean);
    return half ? fmt::format("{} ± {:.2f} %", mean, 100 * *half) : mean + " %";
  }
  const std::string mean = fmt::format("{:.5g}", statistics.mean);
  return half ? fmt::format("{} ± {:.2g}", mean, *half) : mean;
}

std::int64_t most_runs(const ComparisonCell& cell) {
  std::int64_t most = 0;
  for (const auto& statistics : cell.statistics)
    if (statistics) most = std::max(most, statistics->count);
  return most;
}

std::string shown_value(const Comparison& comparison, const ComparisonCell& cell, std::size_t metric) {
  const auto& statistics = cell.statistics[metric];
  if (!statistics) return "-";
  const std::string text = show(comparison.metrics[metric], *statistics);
  return statistics->count == most_runs(cell) ? text : fmt::format("{} (n={})", text, statistics->count);
}

int metric_width(const Comparison& comparison, std::size_t metric) {
  int width = display_width(comparison.metrics[metric]);
  for (const ComparisonCell& cell : comparison.cells)
    width = std::max(width, display_width(shown_value(comparison, cell, metric)));
  return width;
}

int key_width(const Comparison& comparison) {
  int total = 4;  // n
  for (std::size_t i = 0; i < comparison.columns.size(); ++i) {
    int width = display_width(comparison.columns[i]);
    for (const ComparisonCell& cell : comparison.cells) width = std::max(width, display_width(cell.keys[i]));
    total += width + 2;
  }
  return total;
}

// The metrics [first, last) beside the keys.
std::string table_of(const Comparison& comparison, std::size_t first, std::size_t last) {
  std::vector<TextTable::Column> columns;
  for (const std::string& path : comparison.columns) columns.push_back({path});
  columns.push_back({"n", Align::right});
  for (std::size_t m = first; m < last; ++m) columns.push_back({comparison.metrics[m], Align::right});
  TextTable table(std::move(columns));
  for (const ComparisonCell& cell : comparison.cells) {
    std::vector<std::string> row;
    for (const std::string& key : cell.keys) row.push_back(key.empty() ? "-" : key);
    row.push_back(std::to_string(most_runs(cell)));
    for (std::size_t m = first; m < last; ++m) row.push_back(shown_value(comparison, cell, m));
    table.add_row(std::move(row));
  }
  return table.text();
}

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
  std::string result = "\"";
  for (const char c : field) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text;
  bool has_interval = false;
  // As many metrics side by side as fit; the rest in tables below.
  for (std::size_t first = 0; first < comparison.metrics.size();) {
    std::size_t last = first;
    int width = key_width(comparison);
    do {
      width += metric_width(comparison, last) + 2;
      ++last;
    } while (last < comparison.metrics.size() && width + metric_width(comparison, last) + 2 <= kTableWidth);
    if (first > 0) text += '\n';
    text += table_of(comparison, first, last);
    first = last;
  }
  for (const ComparisonCell& cell : comparison.cells)
    for (const auto& statistics : cell.statistics)
      has_interval = has_interval || (statistics && statistics->interval.has_value());
  if (has_interval) text += "\n±: half of the 95 % confidence interval of the mean (Student's t over the n trials)\n";
  return text;
}

std::string comparison_csv(const Comparison& comparison) {
  std::string text;
  for (const std::string& path : comparison.columns) text += quoted(path) + ",";
  text += "metric,n,mean,sd,ci_low,ci_high,min,max\n";
  for (const ComparisonCell& cell : comparison.cells) {
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
      if (!cell.statistics[m]) continue;
      const Statistics& statistics = *cell.statistics[m];
      std::optional<double> low, high;
      if (statistics.interval) {
        low = statistics.interval->low;
        high = statistics.interval->high;
      }
      for (const std::string& key : cell.keys) text += quoted(key) + ",";
      text += fmt::format("{},{},{},{},{},{},{},{}\n", quoted(comparison.metrics[m]), statistics.count,
                          number(statistics.mean), number(statistics.standard_deviation), number(low), number(high),
                          number(statistics.minimum), number(statistics.maximum));
    }
  }
  return text;
}

}  // namespace jari
