// Words with their neighbors: a thread a row.

#include "framework/backend/cuda/pointwise.hpp"
#include "framework/backend/cuda/random_draws.hpp"
#include "framework/ops/word_windows.hpp"

namespace jari {

namespace {

using namespace cuda;

struct Rows {
  Operand<const std::int32_t> words, line_starts;
  Operand<const float> chances;
  Draws draws;
  Operand<std::int32_t> centers, contexts;
  std::int64_t size, lines;
  WordWindowsAttributes options;

  __device__ void operator()(std::int64_t row) const {
    const WordRows rows{
        words.of_trial(), size, line_starts.of_trial(), lines, chances.data == nullptr ? nullptr : chances.of_trial(),
        options};
    const RandomStream random = draws.of_trial();
    std::int32_t* const to = contexts.of_trial() + row * options.width;
    if (!options.passes) {
      centers.of_trial()[row] = rows.draw(random, row, to);
      return;
    }
    const std::int64_t at = std::int64_t{random.step} * options.batch + row;
    const RandomStream pass{random.seed, random.stream + 1, static_cast<std::uint32_t>(at / size)};
    centers.of_trial()[row] = rows.pass(pass, at % size, to);
  }
};

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_word_windows(const KernelRequest& request) {
  const auto options = request.attributes.as<WordWindowsAttributes>();
  const std::int64_t size = request.inputs[0].shape[0], lines = request.inputs[1].shape[0] - 1;
  const bool drops = request.inputs.size() > 4;
  return make_kernel([=](const Call& call) {
    const Draws draws{call.input<std::int32_t>(2), call.input<std::int32_t>(3), options.stream};
    const Operand<const float> chances = drops ? call.input<float>(4) : Operand<const float>();
    launch_elements(call, options.batch,
                    Rows{call.input<std::int32_t>(0), call.input<std::int32_t>(1), chances, draws,
                         call.output<std::int32_t>(0), call.output<std::int32_t>(1), size, lines, options});
  });
}

}  // namespace jari
