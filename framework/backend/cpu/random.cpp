#include "framework/ops/random.hpp"

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/random_stream.hpp"

namespace jari {

namespace {

using namespace cpu;

constexpr std::int64_t kChunk = 64;  // draws at a time
static_assert(kBlock % kChunk == 0 && kChunk % 4 == 0, "chunks take whole blocks of random words");

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

// Elements [begin, end) of ids that are all alike, four to a block of random words.
void draw_alike(const RandomStream& random, std::uint64_t first, std::int64_t begin, std::int64_t end,
                std::uint32_t count, std::int32_t* out) {
  for (std::int64_t i = begin; i < end;) {
    const std::uint64_t element = first + static_cast<std::uint64_t>(i);
    const PhiloxBlock block = random.block(static_cast<std::uint32_t>(element / 4));
    for (std::uint64_t word = element % 4; word < 4 && i < end; ++word, ++i)
      out[i] = static_cast<std::int32_t>(uniform_below(block.word[word], count));
  }
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_random_uniform(const KernelRequest& request) {
  return for_real(request, request.outputs[0].dtype, [&]<class T>() {
    const std::int64_t count = request.outputs[0].shape.size();
    const std::uint64_t id = request.attributes.as<RandomUniformAttributes>().stream;
    return make_kernel([=](const KernelArguments& arguments) {
      const RandomStream stream = random_stream(id, arguments.input<std::int32_t>(0), arguments.input<std::int32_t>(1));
      T* out = arguments.output<T>(0);
      for_blocks(*arguments.workers, count, kBlock, [&](std::int64_t begin, std::int64_t end) {
        for_draws(stream, begin, end, [&](std::int64_t first, std::int64_t some, const float* draws) {
          std::copy_n(draws, some, out + first);
        });
      });
    });
  });
}

std::unique_ptr<Kernel> make_cpu_random_ids(const KernelRequest& request) {
  const auto options = request.attributes.as<RandomIdsAttributes>();
  const RandomIdsInputs inputs(options, request.inputs);
  const std::int64_t size = options.shape.size();
  const auto count = static_cast<std::uint32_t>(options.count);
  return make_kernel([=](const KernelArguments& arguments) {
    const RandomStream random =
        random_stream(options.stream, arguments.input<std::int32_t>(0), arguments.input<std::int32_t>(1));
    const auto optional = [&](int input) { return input < 0 ? nullptr : arguments.input<std::int32_t>(input); };
    const std::int32_t *const asked = optional(inputs.asked), *const limits = optional(inputs.limits),
                              *const others = optional(inputs.others);
    auto* const out = arguments.output<std::int32_t>(0);
    for_blocks(*arguments.workers, size, kBlock, [&](std::int64_t begin, std::int64_t end) {
      const auto is_asked = [&](std::int64_t i) { return asked == nullptr || asked[i / inputs.each] >= 0; };
      const auto first = static_cast<std::uint64_t>(options.first);
      if (limits == nullptr) draw_alike(random, first, begin, end, count, out);
      if (limits == nullptr && asked == nullptr) return;
      for (std::int64_t i = begin; i < end; ++i) {
        if (!is_asked(i)) {
          out[i] = -1;
        } else if (limits != nullptr) {
          out[i] = alias_draw(random, first + static_cast<std::uint64_t>(i), limits, others, count);
        }
      }
    });
  });
}

std::unique_ptr<Kernel> make_cpu_dropout(const KernelRequest& request) {
  return for_real(request, request.outputs[0].dtype, [&]<class T>() {
    const std::int64_t count = request.outputs[0].shape.size();
    const std::uint64_t id = request.attributes.as<DropoutAttributes>().stream;
    return make_kernel([=](const KernelArguments& arguments) {
      const RandomStream stream = random_stream(id, arguments.input<std::int32_t>(2), arguments.input<std::int32_t>(3));
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
