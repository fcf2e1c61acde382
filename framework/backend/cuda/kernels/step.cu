// What a step needs besides its ops: the guard before the optimizer, and copies of what could not be written in place.

#include "framework/backend/cuda/pointwise.hpp"
#include "framework/backend/cuda/step_kernels.hpp"

namespace jari::cuda {

namespace {

constexpr int kMostGuarded = 4;

struct Guarded {
  Operand<const float> single[kMostGuarded];
  Operand<const double> twice[kMostGuarded];  // f64; one of the two is set
  int count = 0;
};

template <class T>
__device__ bool is_finite(T x) {
  return x - x == 0;
}

// A thread a trial.
__global__ void guard(Guarded inputs, std::int32_t* active, int trials) {
  const int trial = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (trial >= trials) return;
  bool finite = true;
  for (int i = 0; i < inputs.count; ++i) {
    finite = finite && (inputs.single[i].data != nullptr ? is_finite(*inputs.single[i].of_trial(trial))
                                                         : is_finite(*inputs.twice[i].of_trial(trial)));
  }
  if (!finite) active[trial] = 0;
}

class GuardKernel final : public DeviceKernel {
 public:
  explicit GuardKernel(std::vector<DType> types) : types_(std::move(types)) {
    if (types_.size() > kMostGuarded) throw DeviceError("a step on CUDA is guarded by up to 4 numbers");
  }
  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override {
    const Call call(arguments, queue);
    Guarded inputs;
    inputs.count = static_cast<int>(types_.size());
    for (int i = 0; i < inputs.count; ++i) {
      if (types_[static_cast<std::size_t>(i)] == DType::f64) {
        inputs.twice[i] = call.input<double>(i);
      } else {
        inputs.single[i] = call.input<float>(i);
      }
    }
    const auto blocks = static_cast<unsigned>(blocks_of(call.trials(), kThreads));
    simt::launch(guard, dim3(blocks), dim3(kThreads), 0, call.stream(), inputs, call.output<std::int32_t>(0).data,
                 call.trials());
  }

 private:
  std::vector<DType> types_;
};

// State is 64-byte aligned and padded, so whole words.
struct CopyWords {
  Operand<const std::uint32_t> from;
  Operand<std::uint32_t> to;
  const std::int32_t* active;
  __device__ void operator()(std::int64_t i) const {
    if (active == nullptr || active[blockIdx.y] != 0) to.of_trial()[i] = from.of_trial()[i];
  }
};

}  // namespace

std::unique_ptr<DeviceKernel> make_guard(const std::vector<DType>& inputs) {
  return std::make_unique<GuardKernel>(inputs);
}

std::unique_ptr<DeviceKernel> make_copy(std::size_t bytes) {
  const auto words = static_cast<std::int64_t>((bytes + 3) / 4);
  return make_kernel([=](const Call& call) {
    launch_elements(call, words, CopyWords{call.input<std::uint32_t>(0), call.output<std::uint32_t>(0), call.active()});
  });
}

}  // namespace jari::cuda
