#include "framework/train/trial_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"

namespace jari {

Checkpoint snapshot(const State& state, int row, const Trial& trial, std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.trial = trial.hash;
  for (const State::Entry& entry : state.entries()) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(state.data(row) + entry.offset);
    checkpoint.tensors.push_back({entry.name, name_of(entry.type.dtype), entry.type.shape.sizes(),
                                  std::vector<std::uint8_t>(begin, begin + entry.type.bytes())});
  }
  return checkpoint;
}

void restore(State& state, int row, const Checkpoint& checkpoint, const std::filesystem::path& path) {
  for (const State::Entry& entry : state.entries()) {
    const CheckpointTensor* tensor = checkpoint.find(entry.name);
    if (tensor == nullptr || tensor->bytes.size() != entry.type.bytes()) {
      throw StoreError(
          fmt::format("{}: tensor '{}' should be {}, found {}; it was written by another version of jari: "
                      "remove the file to train from the start",
                      path.string(), entry.name, entry.type.to_string(),
                      tensor ? fmt::format("{} bytes", tensor->bytes.size()) : "nothing"));
    }
    std::copy(tensor->bytes.begin(), tensor->bytes.end(),
              reinterpret_cast<std::uint8_t*>(state.data(row) + entry.offset));
  }
}

}  // namespace jari
