#pragma once
// Tests a trial on batches that training never draws.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "framework/train/trial_inputs.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {

struct Evaluation {
  // "evaluate/<name>/loss", and of tasks of sequences ".../accuracy" and, with `seen`, ".../accuracy_seen",
  // ".../accuracy_new".
  std::vector<std::pair<std::string, double>> metrics;
  std::vector<double> accuracy_by_position;  // [length]; NaN where the task asks for nothing; empty without sequences
  std::vector<double> loss_by_position;
};

// Of one group.
struct EvaluatedTrial {
  const Trial* trial;
  const TrialInputs* inputs;
  int row;  // of the state
};

// Runs all test sequences of each trial through the program; in the order of `trials`.
std::vector<Evaluation> evaluate_trials(const EvaluateProgram& evaluate, const std::vector<EvaluatedTrial>& trials,
                                        State& state, ThreadPool& pool);
// Of one alone.
Evaluation evaluate_trial(const EvaluateProgram& evaluate, const Trial& trial, const TrialInputs& inputs, State& state,
                          int row, ThreadPool& pool);

}  // namespace jari
