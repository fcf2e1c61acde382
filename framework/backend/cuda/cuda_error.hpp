#pragma once
// Errors of the CUDA runtime as DeviceError.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "framework/base/error.hpp"

namespace jari::cuda {

// `what`: what was being done, "allocate 12 MiB".
inline void check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  throw DeviceError(
      fmt::format("CUDA could not {}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status)));
}

}  // namespace jari::cuda
