#pragma once
// A numeric hyperparameter that may differ from trial to trial of one fused group. It does not convert to T: its only
// uses are a per-trial input of the graph (ModelContext::per_trial) and TrialValues on the host, so it can not be baked
// into a program by accident.

#include <string>

namespace jari {

template <class T>
class PerTrial {
 public:
  using value_type = T;
  PerTrial() = default;
  PerTrial(T value) : value_(value) {}  // NOLINT: `PerTrial<double> lr = 1e-3;` reads well

  // Where each trial's own value stands in its resolved spec: "train.optimizer.lr". Empty before binding.
  const std::string& spec_path() const { return spec_path_; }

  // Value of the trial that was bound first. For messages and range checks only.
  const T& example() const { return value_; }

  void bind(T value, std::string spec_path) {
    value_ = value;
    spec_path_ = std::move(spec_path);
  }

 private:
  T value_{};
  std::string spec_path_;
};

}  // namespace jari
