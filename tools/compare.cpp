// jari compare RUNS...: the table of a sweep.

#include "framework/report/compare.hpp"

#include <fmt/format.h>

#include "tools/commands.hpp"

namespace jari {
namespace {

class CompareCommand final : public Command {
 public:
  const char* name() const override { return "compare"; }
  const char* summary() const override { return "means, intervals and paired tests by the keys that vary"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  std::vector<std::string> runs_;
  CompareOptions options_;
  std::string value_ = "last";
  std::string interval_ = "t";
  std::string format_ = "text";
};

void CompareCommand::options(CommandOptions& options) {
  options.arguments("runs", runs_, "run files, or folders that hold some");
  options.list("--by", options_.by, "key to compare by; the others are pooled");
  options.list("--metric", options_.metrics, "metric to show");
  options.repeated("--baseline", options_.baseline, "KEY=VALUE of the cell that the others are tested against");
  options.repeated("--success", options_.success, "METRIC>=NUMBER: show the share of runs that reach it");
  options.choice("--value", value_, {"last", "best"}, "which value of a metric stands for a run");
  options.choice("--interval", interval_, {"t", "bootstrap"}, "of the means, in tables for people");
  options.choice("--format", format_, {"text", "csv", "md", "latex", "json"}, "csv and json have every number");
}

int CompareCommand::run() {
  options_.value = value_ == "best" ? MetricValue::best : MetricValue::last;
  options_.bootstrap = interval_ == "bootstrap" || format_ == "csv" || format_ == "json";
  const Comparison comparison = compare_runs({runs_.begin(), runs_.end()}, options_);
  for (const std::string& note : comparison.notes) fmt::print(stderr, "{}\n", note);
  if (format_ == "csv") fmt::print("{}", comparison_csv(comparison));
  if (format_ == "md") fmt::print("{}", comparison_markdown(comparison));
  if (format_ == "latex") fmt::print("{}", comparison_latex(comparison));
  if (format_ == "json") fmt::print("{}", comparison_json(comparison));
  if (format_ == "text") fmt::print("{}", comparison_text(comparison));
  return 0;
}

}  // namespace

CommandPtr compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace jari
