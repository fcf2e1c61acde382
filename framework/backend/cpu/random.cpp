#include "framework/ops/random.hpp"

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/base/philox.hpp"

namespace jari {

namespace {

using namespace cpu;

static_assert(kBlock % 4 == 0, "a block of elements takes whole blocks of random words");

RandomStream stream_of(std::uint64_t stream, const std::int32_t* seed, const std::int32_t* step) {
  const auto low = static_cast<std::uint32_t>(seed[0]), high = static_cast<std::uint32_t>(seed[1]);
  return {(std::uint64_t{high} << 32) | low, stream, static_cast<std::uint32_t>(*step)};
}

// `use(element, draw)` for the elements [begin, end); begin is a multiple of 4.
template <class Use>
void for_draws(const RandomStream& stream, std::int64_t begin, std::int64_t end, const Use& use) {
  for (std::int64_t first = begin; first < end; first += 4) {
    const PhiloxBlock block = stream.block(static_cast<std::uint32_t>(first / 4));
    const int count = static_cast<int>(std::min<std::int64_t>(4, end - first));
    for (int i = 0; i < count; ++i) use(first + i, uniform_f32(block.word[i]));
  }
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_random_uniform(const KernelRequest& request) {
  return for_real(request, request.outputs[0].dtype, [&]<class T>() {
    const std::int64_t count = request.outputs[0].shape.size();
    const std::uint64_t id = request.attributes.as<RandomUniformAttributes>().stream;
    return make_kernel([=](const KernelArguments& arguments) {
      const RandomStream stream = stream_of(id, arguments.input<std::int32_t>(0), arguments.input<std::int32_t>(1));
      T* out = arguments.output<T>(0);
      for_blocks(*arguments.workers, count, kBlock, [&](std::int64_t begin, std::int64_t end) {
        for_draws(stream, begin, end, [&](std::int64_t i, float draw) { out[i] = draw; });
      });
    });
  });
}

std::unique_ptr<Kernel> make_cpu_dropout(const KernelRequest& request) {
  return for_real(request, request.outputs[0].dtype, [&]<class T>() {
    const std::int64_t count = request.outputs[0].shape.size();
    const std::uint64_t id = request.attributes.as<DropoutAttributes>().stream;
    return make_kernel([=](const KernelArguments& arguments) {
      const RandomStream stream = stream_of(id, arguments.input<std::int32_t>(2), arguments.input<std::int32_t>(3));
      const T *x = arguments.input<T>(0), rate = *arguments.input<T>(1);
      T* out = arguments.output<T>(0);
      for_blocks(*arguments.workers, count, kBlock, [&](std::int64_t begin, std::int64_t end) {
        for_draws(stream, begin, end,
                  [&](std::int64_t i, float draw) { out[i] = draw < rate ? T{0} : x[i] / (1 - rate); });
      });
    });
  });
}

}  // namespace jari
