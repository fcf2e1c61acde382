// Steps of whole parameters: one pass, each thread some elements. Outputs may be the inputs' own memory.

#include "framework/backend/cuda/optimizer.hpp"

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
__global__ void adam(Kept<T> parameter, Kept<T> first, Kept<T> second, Operand<const T> gradient,
                     AdamScalars<T> scalars, AdamAttributes options, std::int64_t count, const std::int32_t* active) {
  JARI_SHARED(T, parts, 2);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (!is_active(active)) {
    for (std::int64_t i = begin; i < count; i += stride) {
      parameter.leave(i);
      first.leave(i);
      second.leave(i);
    }
    return;
  }
  const AdamStep<T> step = adam_step(options, scalars, parts);
#pragma unroll 4
  for (std::int64_t i = begin; i < count; i += stride) {
    T value = parameter.before.of_trial()[i], average = first.before.of_trial()[i];
    T square = second.before.of_trial()[i];
    step.run(value, average, square, gradient.of_trial()[i]);
    parameter.after.of_trial()[i] = value;
    first.after.of_trial()[i] = average;
    second.after.of_trial()[i] = square;
  }
}

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_sgd_update(const KernelRequest& request) {
  const auto options = request.attributes.as<SgdAttributes>();
  const std::int64_t count = request.inputs[0].shape.size();
  return for_real(request, request.inputs[0].dtype,
                  [&]<class T>() { return make_kernel([=](const Call& call) { sgd<T>(call, count, options); }); });
}

std::unique_ptr<DeviceKernel> make_cuda_adam_update(const KernelRequest& request) {
  const auto options = request.attributes.as<AdamAttributes>();
  const std::int64_t count = request.inputs[0].shape.size(), blocks = blocks_of(count, kThreads * kElements);
  return for_real(request, request.inputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      const AdamScalars<T> scalars{call.input<T>(4), call.input<T>(5), call.input<std::int32_t>(6)};
      call.launch(adam<T>, blocks < kMostBlocks ? blocks : kMostBlocks, kThreads, 0, kept<T>(call, 0, 0),
                  kept<T>(call, 2, 1), kept<T>(call, 3, 2), call.input<T>(1), scalars, options, count, call.active());
    });
  });
}

}  // namespace jari
