#pragma once
// Steps of a training, on all devices of `train.data_parallel` together. Each rank has a copy of the state; since all
// add the same summed gradients to equal copies, they stay equal, and the first rank's is the trial's.

#include <vector>

#include "framework/program/program.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {

class RankSteps {
 public:
  explicit RankSteps(const TrialPrograms& programs) : programs_(programs) {}

  // As Program::run() of programs.train(). With several ranks `feed` is asked once for each, possibly at one time; the
  // other hooks and the observer see the first. Trials are then trained one after the other. Throws what a rank throws;
  // the programs serve no more steps then. DeviceError where several ranks are asked for and planned for one.
  void run(State& state, std::span<const int> trials, std::int64_t begin, std::int64_t end, const Program::Hooks& hooks,
           ThreadPool& pool, Observer* observer = nullptr);

 private:
  void bring_up_to_date(const State& state, int trial);

  const TrialPrograms& programs_;
  std::vector<State> peers_;     // of the ranks after the first
  std::vector<bool> is_copied_;  // by trial: at its first steps
};

}  // namespace jari
