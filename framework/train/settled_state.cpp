#include "framework/train/settled_state.hpp"

#include <cstring>

namespace jari {

SettledState::SettledState(const TrialPrograms& programs, const TrialInputs& inputs, State& state, int row,
                           std::int64_t step, ThreadPool& pool)
    : state_(state), row_(row) {
  if (programs.settle() == nullptr) return;
  copy_.emplace(programs.make_state(1));
  std::memcpy(copy_->data(0), state.data(row), state.bytes_per_trial());
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t at, const Tensors& tensors) { inputs.fill_numbers(tensors, at); };
  const int rows[] = {0};
  programs.settle()->run(*copy_, rows, step, step + 1, hooks, pool);
}

}  // namespace jari
