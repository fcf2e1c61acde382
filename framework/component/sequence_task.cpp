#include "framework/component/sequence_task.hpp"

#include "framework/ops/ops.hpp"

namespace jari {
namespace {

struct Prediction {
  SequenceTask::Batch batch;
  Value logits;
};

Prediction predict(const SequenceTask& task, const LossContext& context) {
  Graph& graph = context.build.graph;
  const SequenceTask::Batch batch = [&] {
    const Graph::Scope scope(graph, "batch");
    return task.batch(context);
  }();
  const Graph::Scope scope(graph, "model", context.model.span());
  return {batch, dynamic_cast<const SequenceModel&>(*context.model).logits(context.build, batch.tokens)};
}

}  // namespace

TaskLoss SequenceTask::loss(const LossContext& context) const {
  const Prediction prediction = predict(*this, context);
  const Graph::Scope scope(context.build.graph, "loss", context.span);
  const Value loss = cross_entropy(prediction.logits, prediction.batch.targets);
  return {loss, loss};
}

SequenceTask::Judgement SequenceTask::judge(const LossContext& context) const {
  const Prediction prediction = predict(*this, context);
  const Graph::Scope scope(context.build.graph, "loss", context.span);
  return {prediction.batch, argmax(prediction.logits),
          cross_entropy_by_position(prediction.logits, prediction.batch.targets)};
}

std::unique_ptr<const Batches> SequenceTask::batches(std::shared_ptr<const TokenizedCorpus>) const { return nullptr; }

std::string SequenceTask::refuse_model(const Model& model) const {
  return dynamic_cast<const SequenceModel*>(&model) != nullptr ? ""
                                                               : "it asks for the token at each position of a sequence";
}

}  // namespace jari
