#pragma once
// All that a trial needs to go on bit for bit: parameters, optimizer state and the trainer's numbers, with a checksum
// over the whole file. The newest is <folder>/checkpoint.h5, the one before it checkpoint.previous.h5.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace jari {

struct CheckpointTensor {
  std::string name;   // "model/embedding", "optimizer/first_moment"
  std::string dtype;  // "f32": not interpreted here
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  bool operator==(const CheckpointTensor&) const = default;
};

struct Checkpoint {
  std::int64_t step = 0;
  std::string trial;  // hash of the trial's identity
  std::vector<CheckpointTensor> tensors;
  std::map<std::string, double> numbers;  // of the trainer: best value so far, patience left

  bool operator==(const Checkpoint&) const = default;

  const CheckpointTensor* find(const std::string& name) const;  // null if absent
};

// Atomic. `keep` >= 1 checkpoints stay: checkpoint.h5, checkpoint.previous.h5, checkpoint.previous_2.h5, ...
void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, int keep = 2);

// One file. StoreError if it is missing or damaged, or if it belongs to another trial.
Checkpoint read_checkpoint(const std::filesystem::path& path, const std::string& trial);

struct CheckpointSearch {
  std::optional<Checkpoint> checkpoint;  // the newest that is whole; nothing if there is none
  std::filesystem::path path;            // where it was found
  std::vector<std::string> damage;       // one text for each newer one that is damaged or refused: for the log
  std::vector<std::filesystem::path> refused;
};

// StoreError only if a whole checkpoint belongs to another trial. `refuse` may pass over one that can not be gone on
// from: it gives "" or the reason, which becomes part of the damage.
CheckpointSearch find_checkpoint(const std::filesystem::path& folder, const std::string& trial,
                                 const std::function<std::string(const Checkpoint&)>& refuse = {});
CheckpointSearch find_checkpoint(const std::filesystem::path& folder);  // of any trial

// After the run file is written.
void remove_checkpoints(const std::filesystem::path& folder);

}  // namespace jari
