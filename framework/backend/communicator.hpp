#pragma once
// One trial on several devices: the ranks, one a device, each driven by a thread of its own.

#include "framework/backend/device.hpp"

namespace jari {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  // Into `to`, on every rank the same bits: the sum over all ranks of `count` elements, f32 or f64, at `from`, which
  // may be `to`. Work on the queue that waits for the other ranks; can be captured. All ranks make the same calls in
  // the same order. DeviceError where a rank has given up.
  virtual void all_reduce_sum(void* to, const void* from, std::int64_t count, DType dtype, DeviceQueue& queue) = 0;
  // From any thread: what waits for other ranks ends, with numbers that mean nothing, and no call is served after it.
  virtual void abort() = 0;
};

}  // namespace jari
