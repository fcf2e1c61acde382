#pragma once
// Fills the inputs that every program of a trial has: batch, seed, step, hyperparameters.

#include <string>
#include <utility>
#include <vector>

#include "framework/program/program.hpp"
#include "framework/train/trial.hpp"

namespace jari {

class TrialInputs {
 public:
  // `per_trial_paths`: TrialPrograms::per_trial_paths().
  TrialInputs(const Trial& trial, const std::vector<std::string>& per_trial_paths);

  // `stream` names the batches: "train", "evaluate/extrapolated". `step`: of training, or the number of the test batch.
  void fill(const Tensors& inputs, const std::string& stream, std::int64_t step) const;

 private:
  const Trial& trial_;
  std::vector<std::pair<std::string, double>> hyperparameters_;  // by name of the input
};

// Writes a real or i32 scalar input if the program has it.
void write_scalar(const Tensors& inputs, const std::string& name, double value);

}  // namespace jari
