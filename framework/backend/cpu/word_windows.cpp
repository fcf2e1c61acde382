// Words with their neighbors. A pass asks once for each word whether it is dropped, not once for each window that it is
// in, as WordRows::pass() does.

#include "framework/ops/word_windows.hpp"

#include <algorithm>
#include <vector>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/random_stream.hpp"

namespace jari {

namespace {

constexpr std::int64_t kRows = 64;  // that a core takes at once

struct Kept {
  std::int32_t word;
  std::int64_t place;
  std::uint32_t bits;  // for the reach of its window
};

// The rows of the places [begin, end), which are of one line.
void pass_over_line(const WordRows& rows, const RandomStream& random, WordRows::Stretch line, std::int64_t begin,
                    std::int64_t end, std::int32_t* centers, std::int32_t* contexts) {
  thread_local std::vector<Kept> kept;
  kept.clear();
  const auto look = [&](std::int64_t place) {
    const PhiloxBlock block = random.block(static_cast<std::uint32_t>(place));
    if (rows.keeps(place, block.word[0])) kept.push_back({rows.words[place], place, block.word[1]});
  };
  const auto window = static_cast<std::size_t>(rows.options.window);
  for (std::int64_t place = begin - 1; place >= line.begin && kept.size() < window; --place) look(place);
  std::reverse(kept.begin(), kept.end());
  const std::size_t first = kept.size();
  for (std::int64_t place = begin; place < end; ++place) look(place);
  const std::size_t last = kept.size();
  for (std::int64_t place = end; place < line.end && kept.size() < last + window; ++place) look(place);

  const std::int64_t width = rows.options.width;
  std::size_t next = first;
  for (std::int64_t place = begin; place < end; ++place) {
    std::int32_t* const to = contexts + (place - begin) * width;
    std::int64_t used = 0;
    if (next < last && kept[next].place == place) {
      const auto most = static_cast<std::size_t>(rows.reach(kept[next].bits));
      for (std::size_t i = next - std::min(next, most); i < std::min(kept.size(), next + most + 1); ++i)
        if (i != next) to[used++] = kept[i].word;
      ++next;
    }
    centers[place - begin] = rows.finish(place, used, to);
  }
}

// Rows [begin, end) of a step, from place `at` of all passes on.
void pass_over(const WordRows& rows, const RandomStream& step, std::int64_t begin, std::int64_t end,
               std::int32_t* centers, std::int32_t* contexts) {
  for (std::int64_t row = begin; row < end;) {
    const std::int64_t at = std::int64_t{step.step} * rows.options.batch + row, place = at % rows.size;
    // Draws belong to a word in a pass, not to a step.
    const RandomStream random{step.seed, step.stream + 1, static_cast<std::uint32_t>(at / rows.size)};
    const WordRows::Stretch line = rows.line_of(place);
    const std::int64_t until = std::min(line.end, place + end - row);
    pass_over_line(rows, random, line, place, until, centers + row, contexts + row * rows.options.width);
    row += until - place;
  }
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_word_windows(const KernelRequest& request) {
  const auto options = request.attributes.as<WordWindowsAttributes>();
  const std::int64_t size = request.inputs[0].shape[0], lines = request.inputs[1].shape[0] - 1;
  const bool drops = request.inputs.size() > 4;
  return cpu::make_kernel([=](const KernelArguments& arguments) {
    const WordRows rows{arguments.input<std::int32_t>(0),
                        size,
                        arguments.input<std::int32_t>(1),
                        lines,
                        drops ? arguments.input<float>(4) : nullptr,
                        options};
    const RandomStream random =
        cpu::random_stream(options.stream, arguments.input<std::int32_t>(2), arguments.input<std::int32_t>(3));
    auto *const centers = arguments.output<std::int32_t>(0), *const contexts = arguments.output<std::int32_t>(1);
    cpu::for_blocks(*arguments.workers, options.batch, kRows, [&](std::int64_t begin, std::int64_t end) {
      if (options.passes) return pass_over(rows, random, begin, end, centers, contexts);
      for (std::int64_t row = begin; row < end; ++row)
        centers[row] = rows.draw(random, row, contexts + row * options.width);
    });
  });
}

}  // namespace jari
