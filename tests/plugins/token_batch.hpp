#pragma once
// The batches of tasks of sequences, as their graphs make them.

#include <cstdint>
#include <memory>
#include <vector>

#include "framework/component/sequence_task.hpp"

namespace jari::test {

struct TokenBatch {
  std::vector<std::int32_t> tokens, targets;  // [sequences, length]
  bool operator==(const TokenBatch&) const = default;
};

struct WantedBatch {
  BatchStream stream = {.draws = 11};
  std::int64_t sequences = 0, length = 0;
  std::uint64_t seed = 1;
  std::uint32_t step = 0;
  std::int64_t part = 0, parts = 1;
  std::shared_ptr<const TokenizedCorpus> corpus = nullptr;
};

TokenBatch batch_of(const Task& task, const WantedBatch& wanted);

}  // namespace jari::test
