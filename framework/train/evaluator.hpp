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

// Runs all test sequences of one trial (row `row` of `state`) through the program.
Evaluation evaluate_trial(const EvaluateProgram& evaluate, const Trial& trial, const TrialInputs& inputs, State& state,
                          int row, ThreadPool& pool);

}  // namespace jari
