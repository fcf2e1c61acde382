#include "framework/component/copy_task.hpp"

#include <algorithm>
#include <vector>

#include "framework/base/error.hpp"

namespace jari {

void draw_tokens(const RandomStream& random, std::int64_t vocabulary, std::span<std::int32_t> tokens) {
  const auto count = static_cast<std::uint32_t>(vocabulary);
  const std::size_t size = tokens.size();
  for (std::size_t begin = 0; begin < size; begin += 4) {
    const PhiloxBlock block = random.block(static_cast<std::uint32_t>(begin / 4));
    for (std::size_t i = begin; i < std::min(begin + 4, size); ++i)
      tokens[i] = static_cast<std::int32_t>(uniform_below(block.word[i % 4], count));
  }
}

void CopyTask::batch(const BatchContext& context, std::span<std::int32_t> tokens,
                     std::span<std::int32_t> targets) const {
  JARI_ASSERT(
      static_cast<std::int64_t>(tokens.size()) == context.batch * context.length && targets.size() == tokens.size(),
      "a batch of another size");
  draw_tokens(context.random, vocabulary_, tokens);
  std::vector<std::int64_t> sources(static_cast<std::size_t>(context.length));
  for (std::int64_t i = 0; i < context.length; ++i) sources[static_cast<std::size_t>(i)] = source(i, context.length);
  const std::size_t length = sources.size();
  for (std::size_t begin = 0; begin < tokens.size(); begin += length)
    for (std::size_t i = 0; i < length; ++i)
      targets[begin + i] = sources[i] < 0 ? -1 : tokens[begin + static_cast<std::size_t>(sources[i])];
}

}  // namespace jari
