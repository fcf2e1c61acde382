#pragma once
// The ops attention and attention_gradient by cuDNN.
//
// Operands are rounded to bf16, and results widened, in a workspace of one trial, for one trial after another: so what
// cuDNN does, and the bits that it makes, do not depend on how many trials there are.

#include <memory>
#include <optional>

#include "framework/backend/cuda/cudnn_attention.hpp"
#include "framework/backend/device.hpp"

namespace jari::cuda {

// What of a request cuDNN's plans depend on. Nothing where it is not worth asking, or where results would not be the
// op's: short sequences, other precisions, heads of odd or large width.
std::optional<CudnnAttentionShape> library_attention_shape(const KernelRequest& request);

// DeviceError where cuDNN has no plan.
std::unique_ptr<DeviceKernel> make_library_attention(const CudnnAttentionShape& shape);
std::unique_ptr<DeviceKernel> make_library_attention_gradient(const CudnnAttentionShape& shape);

}  // namespace jari::cuda
