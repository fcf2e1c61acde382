#pragma once
// One metric over the steps of a run.

#include <cstdint>
#include <string>
#include <vector>

namespace jari {

struct MetricSeries {
  std::string name;  // "train/loss", "evaluate/extrapolated/accuracy"
  std::vector<std::int64_t> steps;
  std::vector<double> values;  // one for each step

  bool operator==(const MetricSeries&) const = default;
};

}  // namespace jari
