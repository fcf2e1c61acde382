#include "framework/component/copy_task.hpp"

#include <algorithm>
#include <vector>

#include "framework/ops/ops.hpp"

namespace jari {

SequenceTask::Batch CopyTask::batch(const LossContext& context) const {
  Graph& graph = context.build.graph;
  const std::int64_t length = context.build.length;
  std::vector<std::int64_t> sources;
  for (std::int64_t i = 0; i < length; ++i) sources.push_back(std::max<std::int64_t>(-1, source(i, length)));
  const Value tokens = random_ids(graph, {.stream = context.stream.draws,
                                          .shape = {context.batch_of_part(), length},
                                          .count = vocabulary_,
                                          .first = context.begin_of_part() * length});
  return {tokens, take_ids(tokens, graph.constant_i32({length}, sources))};
}

}  // namespace jari
