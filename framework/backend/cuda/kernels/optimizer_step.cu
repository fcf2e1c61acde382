// Steps of whole parameters: one pass, each thread some elements. Outputs may be the inputs' own memory. Adam's steps
// of several parameters are one launch.

#include "framework/backend/cuda/joint.hpp"
#include "framework/backend/cuda/optimizer.hpp"
#include "framework/backend/cuda/step_kernels.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class T>
struct Sgd {
  Kept<T> parameter;
  Operand<const T> gradient, rate, decay;
  const std::int32_t* active;
  __device__ void operator()(std::int64_t i) const {
    if (!is_active(active)) return parameter.leave(i);
    const T old = parameter.before.of_trial()[i];
    parameter.after.of_trial()[i] = old - *rate.of_trial() * (gradient.of_trial()[i] + *decay.of_trial() * old);
  }
};

template <class T>
struct SgdWithMomentum {
  Kept<T> parameter, momentum;
  Operand<const T> gradient, rate, decay;
  T factor;
  bool nesterov;
  const std::int32_t* active;
  __device__ void operator()(std::int64_t i) const {
    if (!is_active(active)) {
      parameter.leave(i);
      momentum.leave(i);
      return;
    }
    const T old = parameter.before.of_trial()[i];
    const T slope = gradient.of_trial()[i] + *decay.of_trial() * old;
    const T velocity = factor * momentum.before.of_trial()[i] + slope;
    parameter.after.of_trial()[i] = old - *rate.of_trial() * (nesterov ? slope + factor * velocity : velocity);
    momentum.after.of_trial()[i] = velocity;
  }
};

template <class T>
void sgd(const Call& call, std::int64_t count, const SgdAttributes& options) {
  const Kept<T> parameter = kept<T>(call, 0, 0);
  const Operand<const T> gradient = call.input<T>(1), rate = call.input<T>(2), decay = call.input<T>(3);
  if (options.momentum == 0) {
    launch_elements(call, count, Sgd<T>{parameter, gradient, rate, decay, call.active()});
    return;
  }
  launch_elements(call, count,
                  SgdWithMomentum<T>{parameter, kept<T>(call, 4, 1), gradient, rate, decay,
                                     static_cast<T>(options.momentum), options.nesterov, call.active()});
}

constexpr int kElements = 4;  // of a thread, so that a block's powers serve more than one

template <class T>
struct AdamPart {
  Kept<T> parameter, first, second;
  Operand<const T> gradient, rate, decay;
  std::int64_t count, blocks;
  std::int64_t first_block = 0;
};

template <class T>
__global__ void adam(JARI_GRID_CONSTANT PartTable<AdamPart<T>> table, Operand<const std::int32_t> steps,
                     AdamAttributes options, const std::int32_t* active) {
  JARI_SHARED(T, parts, 2);
  const AdamPart<T>& of = table.of_block(blockIdx.x);
  const std::int64_t stride = of.blocks * blockDim.x;
  const std::int64_t begin = (blockIdx.x - of.first_block) * blockDim.x + threadIdx.x;
  if (!is_active(active)) {
    for (std::int64_t i = begin; i < of.count; i += stride) {
      of.parameter.leave(i);
      of.first.leave(i);
      of.second.leave(i);
    }
    return;
  }
  const AdamStep<T> step = adam_step(options, AdamScalars<T>{of.rate, of.decay, steps}, parts);
#pragma unroll 4
  for (std::int64_t i = begin; i < of.count; i += stride) {
    T value = of.parameter.before.of_trial()[i], average = of.first.before.of_trial()[i];
    T square = of.second.before.of_trial()[i];
    step.run(value, average, square, of.gradient.of_trial()[i]);
    of.parameter.after.of_trial()[i] = value;
    of.first.after.of_trial()[i] = average;
    of.second.after.of_trial()[i] = square;
  }
}

template <class T>
AdamPart<T> adam_part(const Call& call, int node, std::int64_t count) {
  const int in = 7 * node, out = 3 * node;
  const std::int64_t blocks = blocks_of(count, kThreads * kElements);
  return {kept<T>(call, in, out),
          kept<T>(call, in + 2, out + 1),
          kept<T>(call, in + 3, out + 2),
          call.input<T>(in + 1),
          call.input<T>(in + 4),
          call.input<T>(in + 5),
          count,
          blocks < kMostBlocks ? blocks : kMostBlocks};
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_sgd_update(const KernelRequest& request) {
  const auto options = request.attributes.as<SgdAttributes>();
  const std::int64_t count = request.inputs[0].shape.size();
  return for_real(request, request.inputs[0].dtype,
                  [&]<class T>() { return make_kernel([=](const Call& call) { sgd<T>(call, count, options); }); });
}

std::unique_ptr<DeviceKernel> make_cuda_adam_update(const KernelRequest& request) {
  return cuda::make_joint_adam_update({request});
}

namespace cuda {

std::unique_ptr<DeviceKernel> make_joint_adam_update(const std::vector<KernelRequest>& requests) {
  const KernelRequest& request = requests[0];
  const auto options = request.attributes.as<AdamAttributes>();
  std::vector<std::int64_t> counts;
  for (const KernelRequest& each : requests) counts.push_back(each.inputs[0].shape.size());
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      std::vector<AdamPart<T>> parts;
      for (std::size_t i = 0; i < counts.size(); ++i)
        if (counts[i] > 0) parts.push_back(adam_part<T>(call, static_cast<int>(i), counts[i]));
      launch_parts(
          parts, [](const AdamPart<T>& part) { return part.blocks; },
          [&](const PartTable<AdamPart<T>>& table, std::int64_t blocks) {
            call.launch(adam<T>, blocks, kThreads, 0, table, call.input<std::int32_t>(6), options, call.active());
          });
    });
  });
}

}  // namespace cuda
}  // namespace jari
