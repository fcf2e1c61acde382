#pragma once
// `jari diff`: what differs between two runs.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/store/run_file.hpp"

namespace jari {

// Two texts under one name; nothing where a run lacks it.
struct TextDifference {
  std::string name;
  std::optional<std::string> a, b;

  bool operator==(const TextDifference&) const = default;
};

struct MetricDifference {
  std::string name;
  std::optional<MetricSummary> a, b;  // nothing where a run lacks it
};

struct NumberDifference {
  std::string name;
  std::optional<double> a, b;
};

struct WeightDifference {
  std::string path;
  std::vector<std::int64_t> shape_a, shape_b;
  bool in_a = false, in_b = false;
  // Of parameters that both have, with one shape.
  struct Distance {
    double euclidean = 0;            // |a - b|
    std::optional<double> relative;  // |a - b| / |a|; nothing if a is 0
    std::optional<double> cosine;    // of the angle between a and b; nothing if one is 0
    double largest = 0;              // of |a_i - b_i|; NaN if one is NaN
  };
  std::optional<Distance> distance;
};

struct RunDifference {
  std::string name_a, name_b;               // what the user calls them
  std::vector<TextDifference> spec;         // keys whose values differ, by path
  std::vector<TextDifference> environment;  // status, version, git, device, threads, libraries: those that differ
  std::vector<MetricDifference> metrics;    // all
  std::vector<NumberDifference> numbers;    // all, of analyses
  std::optional<std::vector<WeightDifference>> weights;  // if asked for: all
};

RunDifference difference_of(const RunRecord& a, const RunRecord& b, bool with_weights);

// Reads them; a run is named by its file or its trial's folder. StoreError for a path that is neither, and for files
// that are no runs.
RunDifference difference_of(const std::filesystem::path& a, const std::filesystem::path& b, bool with_weights);

std::string difference_text(const RunDifference& difference);

}  // namespace jari
