// jari graph SPEC: what a trial computes, node by node.

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/graph/print.hpp"
#include "framework/ops/cost.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

struct NamedGraph {
  std::string name;  // "train", "evaluate/extrapolated"
  const Graph* graph;
  const Program* program;  // null unless planned
};

std::vector<NamedGraph> graphs_of(const TrialPrograms& programs) {
  std::vector<NamedGraph> graphs;
  if (!programs.experiment().train) return graphs;
  graphs.push_back({"train", &programs.train_graph(), programs.train()});
  for (const EvaluateProgram& evaluate : programs.evaluate())
    graphs.push_back({"evaluate/" + evaluate.name, evaluate.graph.get(), evaluate.program.get()});
  return graphs;
}

const NamedGraph& select(const std::vector<NamedGraph>& graphs, const std::string& name) {
  if (graphs.empty()) throw SpecError("error: the spec trains nothing, so there is no graph\n");
  const auto found = std::ranges::find(graphs, name, &NamedGraph::name);
  if (found != graphs.end()) return *found;
  std::vector<std::string> known;
  for (const NamedGraph& graph : graphs) known.push_back(graph.name);
  const std::optional<std::string> nearest = closest(name, known);
  throw SpecError(fmt::format("error: --program '{}': no such program{}; known: {}\n", name,
                              nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "", joined(known)));
}

// "58 nodes, 3 unused: 38 ops (9 matmul, 8 add ...), 10 parameters, 4 inputs, 3 constants; ..."
std::string summary_of(const Graph& graph) {
  const GraphCost cost = cost_of(graph);
  std::vector<std::pair<int, std::string>> ops;
  int count = 0;
  for (const auto& [name, nodes] : cost.ops) {
    ops.emplace_back(-nodes, name);
    count += nodes;
  }
  std::ranges::sort(ops);
  std::vector<std::string> parts;
  for (const auto& [nodes, name] : ops) parts.push_back(fmt::format("{} {}", -nodes, name));
  const int unused = graph.size() - count - cost.parameters - cost.inputs - cost.constants;
  return fmt::format(
      "{} nodes, {} unused: {} ops ({}), {} parameters, {} inputs, {} constants\n"
      "{} numbers are kept from step to step; all results together {:.1f} MB a trial, {:.4g} MFLOP in matrix "
      "products\n",
      graph.size(), unused, count, joined(parts), cost.parameters, cost.inputs, cost.constants, cost.parameter_elements,
      static_cast<double>(cost.value_bytes) / 1e6, cost.product_flops / 1e6);
}

std::string plan_summary(const PlanReport& report) {
  return fmt::format(
      "{} kernel calls; {:.1f} MB for a step: {:.1f} MB results, {:.1f} MB workspace, {:.1f} MB constants\n",
      report.nodes, static_cast<double>(report.arena_bytes + report.workspace_bytes + report.constant_bytes) / 1e6,
      static_cast<double>(report.arena_bytes) / 1e6, static_cast<double>(report.workspace_bytes) / 1e6,
      static_cast<double>(report.constant_bytes) / 1e6);
}

class GraphCommand final : public Command {
 public:
  const char* name() const override { return "graph"; }
  const char* summary() const override { return "show what a trial computes, node by node"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  SpecArguments spec_;
  std::int64_t trial_ = 0;
  std::string program_ = "train";
  bool dot_ = false;
  bool planned_ = false;
  bool no_rewrite_ = false;
};

void GraphCommand::options(CommandOptions& options) {
  spec_.options(options);
  options.option("--trial", trial_, "which trial of a sweep, from 0");
  options.option("--program", program_, "train, or evaluate/NAME");
  options.flag("--dot", dot_, "for Graphviz: jari graph SPEC --dot | dot -Tsvg -o graph.svg");
  options.flag("--planned", planned_, "the kernel calls that it becomes, and where each result lies in memory");
  options.flag("--no-rewrite", no_rewrite_, "as it was written");
  options.exclude("--dot", "--planned");
}

int GraphCommand::run() {
  Session session = open_spec(spec_);
  SweepOptions sweep_options;
  sweep_options.rewrites = !no_rewrite_;
  Sweep sweep = checked_sweep(session, sweep_options);
  const auto count = static_cast<std::int64_t>(sweep.trials.size());
  if (trial_ < 0 || trial_ >= count) {
    throw SpecError(fmt::format("error: --trial {}: the spec declares trials 0 to {}\n", trial_, count - 1));
  }
  const auto trial = static_cast<std::size_t>(trial_);
  const auto group = std::ranges::find_if(
      sweep.groups, [&](const TrialGroup& each) { return std::ranges::count(each.trials, trial) > 0; });
  if (planned_) group->programs->plan();
  const std::vector<NamedGraph> graphs = graphs_of(*group->programs);
  const NamedGraph& selected = select(graphs, program_);
  if (dot_) {
    fmt::print("{}", graph_dot(*selected.graph, fmt::format("{}: {}", sweep.trials[trial].label, selected.name)));
    fmt::print(stderr, "{}", summary_of(*selected.graph));
  } else if (planned_) {
    fmt::print("{}{}", selected.program->to_string(), plan_summary(selected.program->report()));
  } else {
    fmt::print("{}{}", graph_table(*selected.graph), summary_of(*selected.graph));
  }
  return 0;
}

}  // namespace

CommandPtr graph_command() { return std::make_unique<GraphCommand>(); }

}  // namespace jari
