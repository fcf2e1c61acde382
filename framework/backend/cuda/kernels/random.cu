// Draws: a thread takes a block of four random words, for four elements.

#include "framework/backend/cuda/pointwise.hpp"
#include "framework/backend/cuda/random_draws.hpp"
#include "framework/ops/random.hpp"

namespace jari {

namespace {

using namespace cuda;

// Of the elements 4 i to 4 i + 3.
__device__ inline void uniform_block(const Draws& draws, std::int64_t i, float (&drawn)[4]) {
  const PhiloxBlock block = draws.block(i);
  for (int word = 0; word < 4; ++word) drawn[word] = uniform_f32(block.word[word]);
}

// Four elements that are moved at once.
template <class T>
struct alignas(16) Four {
  T value[4];
};

// Whether all trials' elements begin where fours can.
template <class T>
bool aligned_for_four(const Operand<T>& operand) {
  return reinterpret_cast<std::uintptr_t>(operand.data) % 16 == 0 && operand.stride * sizeof(T) % 16 == 0;
}

template <class T>
struct RandomUniform {
  Draws draws;
  Operand<T> out;
  std::int64_t count;
  bool fours;
  __device__ void operator()(std::int64_t i) const {
    float drawn[4];
    uniform_block(draws, i, drawn);
    T* const to = out.of_trial() + 4 * i;
    if (fours && 4 * i + 4 <= count) {
      Four<T> all;
      for (int k = 0; k < 4; ++k) all.value[k] = drawn[k];
      *reinterpret_cast<Four<T>*>(to) = all;
    } else {
      for (int k = 0; k < 4 && 4 * i + k < count; ++k) to[k] = drawn[k];
    }
  }
};

struct RandomIds {
  Draws draws;
  Operand<const std::int32_t> asked, limits, others;  // null: all are asked for; all ids alike
  Operand<std::int32_t> out;
  std::int64_t each;  // draws of one that is asked for
  std::int64_t first;
  std::uint32_t count;

  __device__ void operator()(std::int64_t i) const {
    const bool is_asked = asked.data == nullptr || asked.of_trial()[i / each] >= 0;
    out.of_trial()[i] = is_asked ? draw(static_cast<std::uint64_t>(first + i)) : -1;
  }
  __device__ std::int32_t draw(std::uint64_t element) const {
    const RandomStream random = draws.of_trial();
    if (limits.data == nullptr) return static_cast<std::int32_t>(uniform_below(random.bits(element), count));
    return alias_draw(random, element, limits.of_trial(), others.of_trial(), count);
  }
};

template <class T>
struct Dropout {
  Draws draws;
  Operand<const T> x, rate;
  Operand<T> out;
  std::int64_t count;
  bool fours;
  __device__ void operator()(std::int64_t i) const {
    float drawn[4];
    uniform_block(draws, i, drawn);
    const T dropped = *rate.of_trial();
    const T* const from = x.of_trial() + 4 * i;
    T* const to = out.of_trial() + 4 * i;
    if (fours && 4 * i + 4 <= count) {
      Four<T> all = *reinterpret_cast<const Four<T>*>(from);
      for (int k = 0; k < 4; ++k) all.value[k] = drawn[k] < dropped ? T(0) : all.value[k] / (1 - dropped);
      *reinterpret_cast<Four<T>*>(to) = all;
    } else {
      for (int k = 0; k < 4 && 4 * i + k < count; ++k) to[k] = drawn[k] < dropped ? T(0) : from[k] / (1 - dropped);
    }
  }
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_random_uniform(const KernelRequest& request) {
  const std::int64_t count = request.outputs[0].shape.size();
  const std::uint64_t stream = request.attributes.as<RandomUniformAttributes>().stream;
  return for_real(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      const Draws draws{call.input<std::int32_t>(0), call.input<std::int32_t>(1), stream};
      const Operand<T> out = call.output<T>(0);
      launch_elements(call, blocks_of(count, 4), RandomUniform<T>{draws, out, count, aligned_for_four(out)});
    });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_random_ids(const KernelRequest& request) {
  const auto options = request.attributes.as<RandomIdsAttributes>();
  const RandomIdsInputs inputs(options, request.inputs);
  const std::int64_t size = options.shape.size(), first = options.first;
  const auto count = static_cast<std::uint32_t>(options.count);
  const std::uint64_t stream = options.stream;
  return make_kernel([=](const Call& call) {
    const auto optional = [&](int input) {
      return input < 0 ? Operand<const std::int32_t>() : call.input<std::int32_t>(input);
    };
    const Draws draws{call.input<std::int32_t>(0), call.input<std::int32_t>(1), stream};
    launch_elements(call, size,
                    RandomIds{draws, optional(inputs.asked), optional(inputs.limits), optional(inputs.others),
                              call.output<std::int32_t>(0), inputs.each, first, count});
  });
}

std::unique_ptr<DeviceKernel> make_cuda_dropout(const KernelRequest& request) {
  const std::int64_t count = request.outputs[0].shape.size();
  const std::uint64_t stream = request.attributes.as<DropoutAttributes>().stream;
  return for_real(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      const Draws draws{call.input<std::int32_t>(2), call.input<std::int32_t>(3), stream};
      const Operand<const T> x = call.input<T>(0);
      const Operand<T> out = call.output<T>(0);
      launch_elements(call, blocks_of(count, 4),
                      Dropout<T>{draws, x, call.input<T>(1), out, count, aligned_for_four(x) && aligned_for_four(out)});
    });
  });
}

}  // namespace jari
