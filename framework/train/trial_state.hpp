#pragma once
// A trial's weights and optimizer state, to a checkpoint and back.

#include <filesystem>

#include "framework/program/program.hpp"
#include "framework/store/checkpoint.hpp"
#include "framework/train/trial.hpp"

namespace jari {

// The tensors of row `row`; the trainer's numbers are left to the caller.
Checkpoint snapshot(const State& state, int row, const Trial& trial, std::int64_t step);

// Throws StoreError if the checkpoint holds other tensors than this trial has. `path`: where it was read, for the text.
void restore(State& state, int row, const Checkpoint& checkpoint, const std::filesystem::path& path);

}  // namespace jari
