#include "framework/train/trial_inputs.hpp"

#include "framework/base/hash.hpp"
#include "framework/train/trial_programs.hpp"

namespace jari {

TrialInputs::TrialInputs(const Trial& trial, const std::vector<std::string>& per_trial_paths) : trial_(trial) {
  const ResolvedValues values(trial.resolved);
  for (const std::string& path : per_trial_paths)
    hyperparameters_.emplace_back(per_trial_input(path), values.number(path));
}

void TrialInputs::fill(const Tensors& inputs, const std::string& stream, std::int64_t step) const {
  const TensorType& type = inputs.type(kTokens);
  const RandomStream random{trial_.seed(), hash64(stream), static_cast<std::uint32_t>(step)};
  (*trial_.experiment.task)
      ->batch({random, type.shape[0], type.shape[1]}, inputs.get<std::int32_t>(kTokens),
              inputs.get<std::int32_t>(kTargets));
  for (const auto& [name, value] : hyperparameters_) write_scalar(inputs, name, value);
  write_scalar(inputs, kRandomStep, static_cast<double>(step));
  if (inputs.has(kRandomSeed)) {
    const auto seed = inputs.get<std::int32_t>(kRandomSeed);
    seed[0] = static_cast<std::int32_t>(trial_.seed());
    seed[1] = static_cast<std::int32_t>(trial_.seed() >> 32);
  }
}

void write_scalar(const Tensors& inputs, const std::string& name, double value) {
  if (inputs.has(name)) write_tensor(inputs, name, {value});
}

}  // namespace jari
