// Steps of single rows of a table, in place or in a copy made first.

#include "framework/backend/cuda/optimizer.hpp"
#include "framework/ops/row_updates.hpp"

namespace jari {

namespace {

using namespace cuda;

// Decay shrinks all rows; without it, and where the table is changed in place, there is nothing to do.
template <class T>
__global__ void shrink(Kept<T> table, Operand<const T> rate, Operand<const T> decay, std::int64_t count,
                       const std::int32_t* active) {
  const T* const from = table.before.of_trial();
  T* const to = table.after.of_trial();
  const bool shrinks = is_active(active) && *decay.of_trial() != T(0);
  if (!shrinks && from == to) return;
  const T factor = shrinks ? 1 - *rate.of_trial() * *decay.of_trial() : T(1);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
#pragma unroll 4
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
    to[i] = from[i] * factor;
}

// One thread an element of the rows, each of which belongs to another row of the table.
template <class T>
struct SgdRows {
  Operand<T> table;
  Operand<const T> rows, rate;
  Operand<const std::int32_t> ids;
  std::int64_t table_rows, width;
  const std::int32_t* active;
  __device__ void operator()(std::int64_t i) const {
    if (!is_active(active)) return;
    const Split at = split(i, width);
    std::int64_t id = ids.of_trial()[at.quotient];
    if (id < 0) return;
    if (id >= table_rows) id = table_rows - 1;
    table.of_trial()[id * width + at.remainder] -= *rate.of_trial() * rows.of_trial()[i];
  }
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_sgd_update_rows(const KernelRequest& request) {
  const std::int64_t size = request.inputs[0].shape.size(), changed = request.inputs[1].shape.size();
  const std::int64_t rows = request.inputs[0].shape[0], width = rows == 0 ? 0 : size / rows;
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      const Operand<const T> rate = call.input<T>(3), decay = call.input<T>(4);
      const Kept<T> table = kept<T>(call, 0, 0);
      call.launch(shrink<T>, table_blocks(size, kThreads), kThreads, 0, table, rate, decay, size, call.active());
      launch_elements(
          call, changed,
          SgdRows<T>{table.after, call.input<T>(1), rate, call.input<std::int32_t>(2), rows, width, call.active()});
    });
  });
}

}  // namespace jari
