#pragma once
// simt::Stream on a real GPU, for sources that launch no kernels.

#include <cuda_runtime_api.h>

namespace simt {

using Stream = cudaStream_t;

}  // namespace simt
