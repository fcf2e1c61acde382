#pragma once
// Family `task`: what is to be learned: batches of tokens and targets, made on the host from (seed, stream, step)
// alone.

#include <cstdint>
#include <span>
#include <string>

#include "framework/base/philox.hpp"

namespace jari {

struct BatchContext {
  RandomStream random;      // of this batch: seed of the trial, stream "train" or "evaluate/<name>", step
  std::int64_t batch = 0;   // sequences
  std::int64_t length = 0;  // tokens a sequence
};

class Task {
 public:
  static constexpr const char* kFamily = "task";
  virtual ~Task() = default;

  virtual std::int64_t vocabulary() const = 0;

  // tokens, targets: [batch, length], row-major. A target is a token id, or -1 where the task asks for nothing.
  virtual void batch(const BatchContext& context, std::span<std::int32_t> tokens,
                     std::span<std::int32_t> targets) const = 0;

  // Whether position i of a sequence of that length has a target (the same for all sequences), for accuracy by
  // position.
  virtual bool has_target(std::int64_t position, std::int64_t length) const = 0;

  // Whether its batches come from the spec's `data`.
  virtual bool reads_data() const { return false; }

  // "" if sequences of this length make sense; otherwise the reason, for the spec's author.
  virtual std::string refuse_length(std::int64_t /*length*/) const { return ""; }
};

}  // namespace jari
