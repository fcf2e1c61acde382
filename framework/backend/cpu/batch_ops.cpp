// Batches of token ids. A place outside of its row or text is moved into range, as an id outside of its table is.

#include <algorithm>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/ops/text_windows.hpp"

namespace jari {

namespace {

using cpu::for_blocks;
using cpu::make_kernel;

constexpr std::int64_t kElements = 1 << 14;  // of rows that a core takes at once

std::int64_t rows_a_block(std::int64_t width) {
  return std::max<std::int64_t>(1, kElements / std::max<std::int64_t>(1, width));
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_take_ids(const KernelRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const std::int64_t width = shape[-1], rows = shape.first(shape.rank() - 1).size();
  const std::int64_t taken = request.inputs[1].shape[0];
  return make_kernel([=](const KernelArguments& arguments) {
    const auto *ids = arguments.input<std::int32_t>(0), *places = arguments.input<std::int32_t>(1);
    auto* const out = arguments.output<std::int32_t>(0);
    for_blocks(*arguments.workers, rows, rows_a_block(taken), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t i = 0; i < taken; ++i) {
          const std::int64_t place = std::min<std::int64_t>(places[i], width - 1);
          out[row * taken + i] = place < 0 ? -1 : ids[row * width + place];
        }
      }
    });
  });
}

std::unique_ptr<Kernel> make_cpu_text_windows(const KernelRequest& request) {
  const std::int64_t windows = request.inputs[1].shape[0];
  const auto [length, end_of_text] = request.attributes.as<TextWindowsAttributes>();
  return make_kernel([=](const KernelArguments& arguments) {
    const auto *text = arguments.input<std::int32_t>(0), *begins = arguments.input<std::int32_t>(1),
               *skips = arguments.input<std::int32_t>(2);
    auto *const tokens = arguments.output<std::int32_t>(0), *const targets = arguments.output<std::int32_t>(1);
    for_blocks(*arguments.workers, windows, rows_a_block(length), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t window = first; window < last; ++window) {
        const std::int64_t begin = std::clamp<std::int64_t>(begins[window], 0, end_of_text);
        const std::int64_t next = std::min(begin + 1, end_of_text);
        const std::int64_t read = std::min(length, end_of_text - begin), asked = std::min(length, end_of_text - next);
        const std::int64_t skipped = std::clamp<std::int64_t>(skips[window], 0, asked);
        std::int32_t *const to = tokens + window * length, *const wanted = targets + window * length;
        std::fill(std::copy_n(text + begin, read, to), to + length, 0);
        std::fill_n(wanted, skipped, -1);
        std::copy(text + next + skipped, text + next + asked, wanted + skipped);
        std::fill(wanted + asked, wanted + length, -1);
      }
    });
  });
}

}  // namespace jari
