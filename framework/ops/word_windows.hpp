#pragma once
// Words of a corpus with their neighbors: one row a center. What a row holds follows from (seed, stream, step) and its
// place in the batch alone, so rows are made in any order. Host and device compile this same header.
//
// Passes: row i of step s has the word at place s batch + i of the corpus, over and over, with all neighbors in its
// window. Whether a word is dropped and how far its window reaches depend on its place and the pass, so batches may cut
// a pass anywhere. Otherwise each row draws a center, and one of its neighbors or all of them; where the neighbor is on
// another line, or a word is dropped, it draws again, 16 times at most. A row without neighbors is empty: -1.

#include <cstdint>

#include "framework/base/philox.hpp"

namespace jari {

struct WordWindowsAttributes {
  std::uint64_t stream = 0;
  std::int64_t batch = 0;
  std::int64_t window = 1;    // words to each side
  std::int64_t width = 1;     // places for neighbors in a row: 1 (one is drawn) or 2 window
  bool passes = false;        // with width 2 window
  bool dynamic = false;       // windows reach from 1 to `window` words
  bool across_lines = false;  // windows go on over the ends of lines

  template <class F>
  void fields(F& f) {
    f("stream", stream);
    f("batch", batch);
    f("window", window);
    f("width", width);
    f("passes", passes);
    f("dynamic", dynamic);
    f("across_lines", across_lines);
  }
};

// A corpus, and how its words become rows.
struct WordRows {
  const std::int32_t* words;
  std::int64_t size;
  const std::int32_t* line_starts;  // [lines + 1]: the last is `size`
  std::int64_t lines;
  const float* chances;  // of each id to stay; null: all stay
  WordWindowsAttributes options;

  struct Stretch {
    std::int64_t begin, end;
  };

  // The line that a place is in.
  JARI_HOST_DEVICE Stretch line_of(std::int64_t place) const {
    if (options.across_lines) return {0, size};
    std::int64_t low = 0, high = lines;  // line_starts[low] <= place < line_starts[high]
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (line_starts[middle] <= place ? low : high) = middle;
    }
    return {line_starts[low], line_starts[high]};
  }
  JARI_HOST_DEVICE bool keeps(std::int64_t place, std::uint32_t bits) const {
    return chances == nullptr || uniform_f32(bits) < chances[words[place]];
  }
  JARI_HOST_DEVICE std::int64_t reach(std::uint32_t bits) const {
    return options.dynamic ? 1 + uniform_below(bits, static_cast<std::uint32_t>(options.window)) : options.window;
  }

  // Row `row` of a batch of random centers: its neighbors to `to`, `width` places; the center, or -1.
  JARI_HOST_DEVICE std::int32_t draw(const RandomStream& random, std::int64_t row, std::int32_t* to) const {
    constexpr std::uint32_t kAttempts = 16;
    std::int64_t place = -1, used = 0;
    for (std::uint32_t attempt = 0; attempt < kAttempts && used == 0; ++attempt) {
      const std::uint32_t at = 2 * (static_cast<std::uint32_t>(row) * kAttempts + attempt);
      const PhiloxBlock block = random.block(at);
      place = draw_place(block.word[0]);
      used = options.width == 1 ? draw_neighbor(random, at, block, place, to) : all_neighbors(block, place, to);
    }
    return finish(place, used, to);
  }

  // The word at `place` of a pass, whose draws `random` makes.
  JARI_HOST_DEVICE std::int32_t pass(const RandomStream& random, std::int64_t place, std::int32_t* to) const {
    const PhiloxBlock block = random.block(static_cast<std::uint32_t>(place));
    if (!keeps(place, block.word[0])) return finish(place, 0, to);
    const Stretch line = line_of(place);
    const std::int64_t most = reach(block.word[1]);
    const auto is_kept = [&](std::int64_t other) {
      return chances == nullptr || keeps(other, random.block(static_cast<std::uint32_t>(other)).word[0]);
    };
    std::int64_t used = 0;
    for (std::int64_t other = place - 1; other >= line.begin && used < most; --other)
      if (is_kept(other)) to[used++] = words[other];
    for (std::int64_t i = 0; i < used / 2; ++i) {  // in the order of the text
      const std::int32_t word = to[i];
      to[i] = to[used - 1 - i];
      to[used - 1 - i] = word;
    }
    const std::int64_t before = used;
    for (std::int64_t other = place + 1; other < line.end && used < before + most; ++other)
      if (is_kept(other)) to[used++] = words[other];
    return finish(place, used, to);
  }

  JARI_HOST_DEVICE std::int32_t finish(std::int64_t place, std::int64_t used, std::int32_t* to) const {
    for (std::int64_t i = used; i < options.width; ++i) to[i] = -1;
    return used > 0 ? words[place] : -1;
  }

 private:
  // As the source does it, a center stands a window away from both ends of the corpus where windows cross lines.
  JARI_HOST_DEVICE std::int64_t draw_place(std::uint32_t bits) const {
    const std::int64_t margin = options.across_lines ? options.window : 0;
    return margin + uniform_below(bits, static_cast<std::uint32_t>(size - 2 * margin));
  }

  JARI_HOST_DEVICE std::int64_t draw_neighbor(const RandomStream& random, std::uint32_t at, const PhiloxBlock& block,
                                              std::int64_t place, std::int32_t* to) const {
    const std::int64_t most = reach(block.word[1]);
    const auto side = static_cast<std::int64_t>(uniform_below(block.word[2], static_cast<std::uint32_t>(2 * most)));
    const std::int64_t other = place + (side < most ? -1 - side : side - most + 1);
    const Stretch line = line_of(place);
    if (other < line.begin || other >= line.end) return 0;
    if (chances != nullptr) {
      const PhiloxBlock drops = random.block(at + 1);
      if (!keeps(place, drops.word[0]) || !keeps(other, drops.word[1])) return 0;
    }
    to[0] = words[other];
    return 1;
  }

  JARI_HOST_DEVICE std::int64_t all_neighbors(const PhiloxBlock& block, std::int64_t place, std::int32_t* to) const {
    if (!keeps(place, block.word[2])) return 0;
    const std::int64_t most = reach(block.word[1]);
    const Stretch line = line_of(place);
    const std::int64_t begin = place - most > line.begin ? place - most : line.begin;
    const std::int64_t end = place + most + 1 < line.end ? place + most + 1 : line.end;
    std::int64_t used = 0;
    for (std::int64_t other = begin; other < end; ++other)
      if (other != place) to[used++] = words[other];
    return used;
  }
};

}  // namespace jari
