#include "framework/backend/cuda/refuse.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"

namespace jari::cuda {

void refuse(const KernelRequest& request, DType dtype) {
  throw DeviceError(fmt::format("{}: CUDA has no kernel for elements of type {}", request.op->name, name_of(dtype)));
}

}  // namespace jari::cuda
