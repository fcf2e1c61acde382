#include "tests/plugins/token_batch.hpp"

#include "framework/program/program.hpp"

namespace jari::test {

TokenBatch batch_of(const Task& task, const WantedBatch& wanted) {
  Graph graph;
  Declarations declarations;
  const BuildContext build{.graph = graph,
                           .declarations = declarations,
                           .vocabulary = task.vocabulary(wanted.corpus.get()),
                           .length = wanted.length,
                           .trained_length = wanted.length,
                           .corpus = wanted.corpus.get()};
  BatchStream stream = wanted.stream;
  stream.length = wanted.length;
  const Slot<Model> no_model;
  const std::unique_ptr<const Batches> batches = task.batches(wanted.corpus);
  const SequenceTask::Batch batch = task.as_sequence_task()->batch(
      {build, no_model, stream, batches.get(), wanted.sequences, {}, wanted.part, wanted.parts});

  TokenBatch found;
  Program::Hooks hooks;
  hooks.feed = [&](int, std::int64_t, const Tensors& inputs) {
    if (batches) batches->fill({{wanted.seed, stream.draws, wanted.step}, stream}, inputs);
    if (inputs.has(kRandomSeed)) write_tensor(inputs, kRandomSeed, {static_cast<double>(wanted.seed), 0});
    if (inputs.has(kRandomStep)) write_tensor(inputs, kRandomStep, {static_cast<double>(wanted.step)});
  };
  hooks.fetch = [&](int, std::int64_t, const Tensors& outputs) {
    const auto tokens = outputs.get<std::int32_t>("tokens"), targets = outputs.get<std::int32_t>("targets");
    found = {{tokens.begin(), tokens.end()}, {targets.begin(), targets.end()}};
    return true;
  };
  State state(graph, 1);
  const int trial = 0;
  ThreadPool pool(1);
  Program(graph, {{"tokens", batch.tokens}, {"targets", batch.targets}}).run(state, {&trial, 1}, 0, 1, hooks, pool);
  return found;
}

}  // namespace jari::test
