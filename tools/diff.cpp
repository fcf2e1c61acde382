// jari diff A B: what differs between two runs.

#include <fmt/format.h>

#include "framework/report/run_difference.hpp"
#include "tools/commands.hpp"

namespace jari {
namespace {

class DiffCommand final : public Command {
 public:
  const char* name() const override { return "diff"; }
  const char* summary() const override { return "what differs between two runs: spec, metrics, environment, weights"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  std::string a_, b_;
  bool weights_ = false;
};

void DiffCommand::options(CommandOptions& options) {
  options.argument("a", a_, "a run file, or a trial's folder");
  options.argument("b", b_, "another");
  options.flag("--weights", weights_, "distance of each parameter");
}

int DiffCommand::run() {
  fmt::print("{}", difference_text(difference_of(std::filesystem::path(a_), std::filesystem::path(b_), weights_)));
  return 0;
}

}  // namespace

CommandPtr diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace jari
