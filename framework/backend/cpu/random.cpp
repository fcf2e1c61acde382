#include "framework/ops/random.hpp"

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/base/philox.hpp"

namespace jari {

namespace {

using namespace cpu;

constexpr std::int64_t kChunk = 64;  // draws at a time
static_assert(kBlock % kChunk == 0 && kChunk % 4 == 0, "chunks take whole blocks of random words");

RandomStream stream_of(std::uint64_t stream, const std::int32_t* seed, const std::int32_t* step) {
  const auto low = static_cast<std::uint32_t>(seed[0]), high = static_cast<std::uint32_t>(seed[1]);
  return {(std::uint64_t{high} << 32) | low, stream, static_cast<std::uint32_t>(*step)};
}

// `use(begin, count, draws)` for chunks of the elements [begin, end); begin is a multiple of 4.
template <class Use>
void for_draws(const RandomStream& stream, std::int64_t begin, std::int64_t end, const Use& use) {
  for (; begin < end; begin += kChunk) {
    float draws[kChunk];
    for (std::int64_t i = 0; i < kChunk; i += 4) {
      const PhiloxBlock block = stream.block(static_cast<std::uint32_t>((begin + i) / 4));
      for (int word = 0; word < 4; ++word) draws[i + word] = uniform_f32(block.word[word]);
    }
    use(begin, std::min(kChunk, end - begin), draws);
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
        for_draws(stream, begin, end, [&](std::int64_t first, std::int64_t some, const float* draws) {
          std::copy_n(draws, some, out + first);
        });
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
        for_draws(stream, begin, end, [&](std::int64_t first, std::int64_t some, const float* draws) {
          const T* from = x + first;
          T* to = out + first;
#pragma omp simd
          for (std::int64_t i = 0; i < some; ++i) to[i] = draws[i] < rate ? T{0} : from[i] / (1 - rate);
        });
      });
    });
  });
}

}  // namespace jari
