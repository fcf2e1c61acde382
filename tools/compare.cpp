// jari compare RUNS...: the table of a sweep.

#include "framework/sweep/compare.hpp"

#include <fmt/format.h>

#include "tools/commands.hpp"

namespace jari {
int compare_command(const CompareArguments& arguments) {
  CompareOptions options;
  options.by = arguments.by;
  options.metrics = arguments.metrics;
  const Comparison comparison = compare_runs({arguments.runs.begin(), arguments.runs.end()}, options);
  for (const std::string& note : comparison.notes) fmt::print(stderr, "{}\n", note);
  fmt::print("{}", arguments.format == "csv" ? comparison_csv(comparison) : comparison_text(comparison));
  return 0;
}

}  // namespace jari
