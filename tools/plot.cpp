// jari plot RUNS... --what WHAT -o FILE: a picture of what runs have recorded.

#include "framework/report/plot.hpp"

#include <fmt/format.h>

#include "tools/commands.hpp"

namespace jari {
namespace {

std::string help_of_what() {
  std::string help = "what to draw; or the path of a metric, to draw it over the steps:";
  for (const PlotKind& kind : plot_kinds()) help += fmt::format("\n{:20} {}", kind.name, kind.what);
  return help;
}

class PlotCommand final : public Command {
 public:
  const char* name() const override { return "plot"; }
  const char* summary() const override { return "a picture of losses, accuracies, biases, vectors of positions"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  std::vector<std::string> runs_;
  PlotOptions options_;
  std::string output_;
};

void PlotCommand::options(CommandOptions& options) {
  options_.what = "loss";
  output_ = "plot.svg";
  options.arguments("runs", runs_, "run files, or folders that hold some");
  options.option("--what", options_.what, help_of_what().c_str());
  options.option("-o,--output", output_, "FILE.svg, FILE.png, or FILE.gp for the script that gnuplot draws from");
  options.list("--by", options_.by, "key that tells curves apart; more of them make panels; the others are pooled");
  options.list("--only", options_.only, "KEY=VALUE[,VALUE ...]: only these runs, e.g. model.position=rel,sin");
  options.list("--evaluate", options_.evaluate, "evaluate entry to show; by default all");
  options.option("--metric", options_.metric, "metric for final (a path) and ..._by_length (accuracy_new)");
  options.flag("--log", options_.log, "logarithmic upright axis");
  options.option("--title", options_.title, "above the picture");
  options.option("--size", options_.size, "WIDTHxHEIGHT in pixels; a PNG has two pixels for each, to print well");
}

int PlotCommand::run() {
  check_plot_output(output_);
  const Plot plot = make_plot({runs_.begin(), runs_.end()}, options_);
  for (const std::string& note : plot.notes) fmt::print(stderr, "{}\n", note);
  write_plot(plot, output_);
  fmt::print("{}\n", output_);
  return 0;
}

}  // namespace

CommandPtr plot_command() { return std::make_unique<PlotCommand>(); }

}  // namespace jari
