#pragma once
// Fills the inputs that every program of a trial has: batch, seed, step, hyperparameters.

#include <string>
#include <utility>
#include <vector>

#include "framework/program/program.hpp"
#include "framework/train/trial.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {

class TrialInputs {
 public:
  // Both must outlive it.
  TrialInputs(const Trial& trial, const TrialPrograms& programs);

  // `step`: of training, or the number of the test batch. `stream`: of the program that the inputs are of.
  void fill(const Tensors& inputs, const BatchStream& stream, std::int64_t step) const;
  // Those of a step of training.
  void fill_step(const Tensors& inputs, std::int64_t step) const { fill(inputs, programs_.train_stream(), step); }
  // All but the batch: hyperparameters, seed, step, schedule.
  void fill_numbers(const Tensors& inputs, std::int64_t step) const;

  const TrialPrograms& programs() const { return programs_; }

 private:
  const Trial& trial_;
  const TrialPrograms& programs_;
  std::vector<std::pair<std::string, double>> hyperparameters_;  // by name of the input
};

// Writes a real or i32 scalar input if the program has it.
void write_scalar(const Tensors& inputs, const std::string& name, double value);

}  // namespace jari
