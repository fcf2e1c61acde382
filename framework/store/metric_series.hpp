#pragma once
// One metric over the steps of a run.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jari {

struct MetricSeries {
  std::string name;  // "train/loss", "evaluate/extrapolated/accuracy"
  std::vector<std::int64_t> steps;
  std::vector<double> values;  // one for each step

  bool operator==(const MetricSeries&) const = default;
};

// Which value of a metric stands for a run.
enum class MetricValue { last, best };

// A metric in short. NaN only where all values are NaN (`best`, `worst`) or the last one is.
struct MetricSummary {
  std::string name;
  double last = 0;
  double best = 0, worst = 0;  // by smaller_is_better()
  std::int64_t best_step = 0;  // the first step with the best value

  bool operator==(const MetricSummary&) const = default;
};

// Whether a metric wants to be small: if the last part of its name tells of a loss, a perplexity, an error or a norm.
// All others (accuracy, recall, correlation ...) want to be large.
bool smaller_is_better(std::string_view metric);

// `series` must not be empty.
MetricSummary summarize(const MetricSeries& series);

}  // namespace jari
