// jari compare RUNS...: the table of a sweep.

#include "framework/sweep/compare.hpp"

#include <fmt/format.h>

#include <memory>

#include "tools/commands.hpp"

namespace jari {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  CompareOptions options;
  std::string format = "text";
};

int compare(const CompareArguments& arguments) {
  const Comparison comparison = compare_runs({arguments.runs.begin(), arguments.runs.end()}, arguments.options);
  for (const std::string& note : comparison.notes) fmt::print(stderr, "{}\n", note);
  fmt::print("{}", arguments.format == "csv" ? comparison_csv(comparison) : comparison_text(comparison));
  return 0;
}

}  // namespace

void add_compare_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("compare", "mean, interval and n of each metric by the keys that vary");
  auto arguments = std::make_shared<CompareArguments>();
  command->add_option("runs", arguments->runs, "run files, or folders that hold some")->required();
  command->add_option("--by", arguments->options.by, "key to compare by (several times); others are pooled")
      ->delimiter(',');
  command->add_option("--metric", arguments->options.metrics, "metric to show (several times)")->delimiter(',');
  command->add_option("--format", arguments->format, "text or csv")
      ->check(CLI::IsMember({"text", "csv"}))
      ->capture_default_str();
  command->callback([arguments, &status] { status = compare(*arguments); });
}

}  // namespace jari
