// The seam to a library's attention: here there is none.

#include "framework/backend/cuda/long_attention.hpp"

namespace jari::cuda {

std::unique_ptr<DeviceKernel> faster_attention(const KernelRequest& /*request*/, std::unique_ptr<DeviceKernel> own) {
  return own;
}

}  // namespace jari::cuda
