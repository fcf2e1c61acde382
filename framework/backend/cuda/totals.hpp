#pragma once
// The last stage of a sum to one number: f64 parts that many blocks have left in a workspace.

#include "framework/backend/cuda/rows.hpp"

namespace jari::cuda {

// One block: thread t adds up parts t, t + threads ..., then the threads are combined.
template <class T>
__global__ void add_parts(Operand<const double> parts, std::int64_t count, Operand<T> out) {
  JARI_SHARED(double, warps, 32);
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += parts.of_trial()[i];
  sum = reduce_block(sum, Sum(), warps);
  if (threadIdx.x == 0) *out.of_trial() = static_cast<T>(sum);
}

template <class T>
void launch_total(const Call& call, const Operand<double>& parts, std::int64_t count, const Operand<T>& out) {
  call.launch(add_parts<T>, 1, count < 4096 ? 256 : 1024, 0, Operand<const double>{parts.data, parts.stride}, count,
              out);
}

}  // namespace jari::cuda
