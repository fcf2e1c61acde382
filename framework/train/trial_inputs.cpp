#include "framework/train/trial_inputs.hpp"

#include <algorithm>

#include "framework/ops/row_updates.hpp"

namespace jari {

TrialInputs::TrialInputs(const Trial& trial, const TrialPrograms& programs) : trial_(trial), programs_(programs) {
  const ResolvedValues values(trial.resolved);
  for (const std::string& path : programs.per_trial_paths())
    hyperparameters_.emplace_back(per_trial_input(path), values.number(path));
}

void TrialInputs::fill(const Tensors& inputs, const BatchStream& stream, std::int64_t step) const {
  const RandomStream random{trial_.seed(), stream.draws, static_cast<std::uint32_t>(step)};
  if (programs_.batches() != nullptr) programs_.batches()->fill({random, stream}, inputs);
  fill_numbers(inputs, step);
}

void TrialInputs::fill_numbers(const Tensors& inputs, std::int64_t step) const {
  for (const auto& [name, value] : hyperparameters_) write_scalar(inputs, name, value);
  write_scalar(inputs, kRandomStep, static_cast<double>(step));
  if (inputs.has(kRandomSeed)) {
    const auto seed = inputs.get<std::int32_t>(kRandomSeed);
    seed[0] = static_cast<std::int32_t>(trial_.seed());
    seed[1] = static_cast<std::int32_t>(trial_.seed() >> 32);
  }
  const TrainSpec& train = *trial_.experiment.train;
  const auto factor = [&](std::int64_t at) { return train.schedule->factor({at, train.steps}); };
  if (inputs.has(kScheduleFactor)) write_scalar(inputs, kScheduleFactor, factor(step));
  if (!inputs.has(kScheduleHistory)) return;
  std::vector<double> history(kAdamHistory);
  for (std::int64_t i = std::max<std::int64_t>(0, kAdamHistory - step); i < kAdamHistory; ++i)
    history[static_cast<std::size_t>(i)] = factor(step - kAdamHistory + i);
  write_tensor(inputs, kScheduleHistory, history);
}

void write_scalar(const Tensors& inputs, const std::string& name, double value) {
  if (inputs.has(name)) write_tensor(inputs, name, {value});
}

}  // namespace jari
