#pragma once
// The graphs and programs of one trial shape: what all trials of a fused group share.

#include <memory>
#include <string>
#include <vector>

#include "framework/component/build_context.hpp"
#include "framework/program/program.hpp"
#include "framework/train/experiment.hpp"

namespace jari {

// Names of the programs' inputs and outputs.
inline constexpr const char* kTokens = "tokens";                    // i32 [batch, length]
inline constexpr const char* kTargets = "targets";                  // i32 [batch, length], -1: none
inline constexpr const char* kScheduleFactor = "schedule/factor";   // real scalar
inline constexpr const char* kLoss = "loss";                        // real scalar
inline constexpr const char* kGradientNorm = "gradient_norm";       // real scalar, before clipping
inline constexpr const char* kPredictions = "predictions";          // i32 [batch, length]
inline constexpr const char* kLossByPosition = "loss_by_position";  // real [batch, length]

struct EvaluateProgram {
  std::string name;
  EvaluateSpec spec;
  std::int64_t batch = 0;
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Program> program;  // null until planned
};

class TrialPrograms {
 public:
  // Builds the graphs only, which is quick. Throws ShapeError if the components do not fit together.
  // `rewrites`: see Graph::set_rewrites.
  explicit TrialPrograms(const Experiment& experiment, bool rewrites = true);

  // Lays out memory and makes the kernels; before it there is nothing to run.
  void plan();

  const Experiment& experiment() const { return experiment_; }
  const Declarations& declarations() const { return declarations_; }
  const Graph& train_graph() const { return *train_graph_; }
  const Program* train() const { return train_.get(); }  // null without `train` and before plan()
  const std::vector<EvaluateProgram>& evaluate() const { return evaluate_; }

  State make_state(int trials) const { return State(*train_graph_, trials); }
  const std::vector<std::string>& trained_paths() const { return trained_; }
  std::int64_t trained_parameters() const;           // numbers that the optimizer changes
  std::vector<std::string> per_trial_paths() const;  // of the train graph, as below

 private:
  void build_train();
  EvaluateProgram build_evaluate(const std::string& name, const EvaluateSpec& spec);

  Experiment experiment_;
  bool rewrites_;
  Declarations declarations_;
  std::unique_ptr<Graph> train_graph_;
  std::vector<std::string> trained_;  // paths of the model's parameters
  std::unique_ptr<Program> train_;
  std::vector<EvaluateProgram> evaluate_;
};

DType real_type(Precision precision);

// Paths in the spec of the hyperparameters that the graph takes from each trial.
std::vector<std::string> per_trial_paths_of(const Graph& graph);

// Calls the model under the scope "model" of the spec's block.
Value build_logits(const BuildContext& context, const Slot<Model>& model, Value tokens);

}  // namespace jari
