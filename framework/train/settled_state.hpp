#pragma once
// A trial's weights as they are to be read: with the steps done that rows of tables wait for (Optimizer::prepare).

#include <cstdint>
#include <optional>

#include "framework/program/program.hpp"
#include "framework/train/trial_inputs.hpp"

namespace jari {

// The state itself where no rows wait, else a copy of the trial's part. What is waited for is not changed by looking: a
// trial goes on with the same bits whenever it was looked at.
class SettledState {
 public:
  // `step`: steps done. The state must outlive it.
  SettledState(const TrialPrograms& programs, const TrialInputs& inputs, State& state, int row, std::int64_t step,
               ThreadPool& pool);

  State& state() { return copy_ ? *copy_ : state_; }
  int row() const { return copy_ ? 0 : row_; }

 private:
  State& state_;
  int row_;
  std::optional<State> copy_;
};

}  // namespace jari
