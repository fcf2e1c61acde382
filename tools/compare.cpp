// jari compare RUNS...: the table of a sweep.

#include "framework/sweep/compare.hpp"

#include <fmt/format.h>

#include "tools/commands.hpp"

namespace jari {
namespace {

class CompareCommand final : public Command {
 public:
  const char* name() const override { return "compare"; }
  const char* summary() const override { return "mean, interval and n of each metric by the keys that vary"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  std::vector<std::string> runs_;
  CompareOptions options_;
  std::string format_ = "text";
};

void CompareCommand::options(CommandOptions& options) {
  options.arguments("runs", runs_, "run files, or folders that hold some");
  options.list("--by", options_.by, "key to compare by; the others are pooled");
  options.list("--metric", options_.metrics, "metric to show");
  options.choice("--format", format_, {"text", "csv"}, "text or csv");
}

int CompareCommand::run() {
  const Comparison comparison = compare_runs({runs_.begin(), runs_.end()}, options_);
  for (const std::string& note : comparison.notes) fmt::print(stderr, "{}\n", note);
  fmt::print("{}", format_ == "csv" ? comparison_csv(comparison) : comparison_text(comparison));
  return 0;
}

}  // namespace

CommandPtr compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace jari
