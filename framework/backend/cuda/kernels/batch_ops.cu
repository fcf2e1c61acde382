// Batches of token ids, as framework/backend/cpu/batch_ops.cpp makes them.

#include "framework/backend/cuda/pointwise.hpp"
#include "framework/ops/text_windows.hpp"

namespace jari {

namespace {

using namespace cuda;

struct TakeIds {
  Operand<const std::int32_t> ids, places;
  Operand<std::int32_t> out;
  std::int64_t width, taken;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t wanted = places.of_trial()[i % taken], place = wanted < width ? wanted : width - 1;
    out.of_trial()[i] = place < 0 ? -1 : ids.of_trial()[i / taken * width + place];
  }
};

struct Windows {
  Operand<const std::int32_t> text, begins, skips;
  Operand<std::int32_t> tokens, targets;
  std::int64_t length, end;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t window = i / length, column = i % length;
    const std::int64_t begin = begins.of_trial()[window], place = (begin > 0 ? begin : 0) + column;
    const bool is_asked = place + 1 < end && column >= skips.of_trial()[window];
    tokens.of_trial()[i] = place < end ? text.of_trial()[place] : 0;
    targets.of_trial()[i] = is_asked ? text.of_trial()[place + 1] : -1;
  }
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_take_ids(const KernelRequest& request) {
  const std::int64_t width = request.inputs[0].shape[-1], taken = request.inputs[1].shape[0];
  const std::int64_t count = request.outputs[0].shape.size();
  return make_kernel([=](const Call& call) {
    launch_elements(
        call, count,
        TakeIds{call.input<std::int32_t>(0), call.input<std::int32_t>(1), call.output<std::int32_t>(0), width, taken});
  });
}

std::unique_ptr<DeviceKernel> make_cuda_text_windows(const KernelRequest& request) {
  const auto [length, end] = request.attributes.as<TextWindowsAttributes>();
  const std::int64_t count = request.outputs[0].shape.size();
  return make_kernel([count, length = length, end = end](const Call& call) {
    launch_elements(call, count,
                    Windows{call.input<std::int32_t>(0), call.input<std::int32_t>(1), call.input<std::int32_t>(2),
                            call.output<std::int32_t>(0), call.output<std::int32_t>(1), length, end});
  });
}

}  // namespace jari
