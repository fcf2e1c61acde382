#include "framework/store/metric_series.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/error.hpp"

namespace jari {

bool smaller_is_better(std::string_view metric) {
  constexpr std::string_view kinds[] = {"loss", "perplexity", "bits", "error", "norm"};
  const std::string_view name = metric.substr(metric.rfind('/') + 1);
  return std::ranges::any_of(kinds, [&](std::string_view kind) { return name.find(kind) != std::string_view::npos; });
}

MetricSummary summarize(const MetricSeries& series) {
  JARI_ASSERT(!series.values.empty() && series.steps.size() == series.values.size(),
              "a series that is summarized has values, each with its step");
  const bool minimize = smaller_is_better(series.name);
  const auto better = [minimize](double a, double b) { return minimize ? a < b : a > b; };
  MetricSummary summary{series.name, series.values.back(), series.values.front(), series.values.front(),
                        series.steps.front()};
  for (std::size_t i = 1; i < series.values.size(); ++i) {
    const double value = series.values[i];
    if (std::isnan(value)) continue;
    if (std::isnan(summary.best) || better(value, summary.best)) {
      summary.best = value;
      summary.best_step = series.steps[i];
    }
    if (std::isnan(summary.worst) || better(summary.worst, value)) summary.worst = value;
  }
  return summary;
}

}  // namespace jari
