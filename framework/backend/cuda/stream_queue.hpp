#pragma once
// The queues of this backend.

#include <jari_stream.hpp>

#include "framework/backend/device.hpp"

namespace jari::cuda {

class StreamQueue : public DeviceQueue {
 public:
  // What kernels and libraries are launched on, from this thread.
  virtual simt::Stream stream() const = 0;
};

}  // namespace jari::cuda
