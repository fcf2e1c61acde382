#include "framework/component/sequence_task.hpp"

#include "framework/ops/ops.hpp"

namespace jari {
namespace {

class SequenceBatches final : public Batches {
 public:
  SequenceBatches(const SequenceTask& task, std::shared_ptr<const TokenizedCorpus> corpus)
      : task_(task), corpus_(std::move(corpus)) {}
  void fill(const BatchContext& context, const Tensors& inputs) const override {
    const TensorType& type = inputs.type(kTokens);
    BatchContext of_size = context;
    of_size.batch = type.shape[0];
    of_size.length = type.shape[1];
    of_size.corpus = corpus_.get();
    task_.batch(of_size, inputs.get<std::int32_t>(kTokens), inputs.get<std::int32_t>(kTargets));
  }

 private:
  const SequenceTask& task_;
  std::shared_ptr<const TokenizedCorpus> corpus_;
};

struct Prediction {
  Value logits, targets;
};

Prediction predict(const LossContext& context) {
  Graph& graph = context.build.graph;
  const TensorType ids{DType::i32, {context.batch, context.build.length}};
  Value tokens = graph.input(kTokens, ids, /*per_trial=*/true);
  Value targets = graph.input(kTargets, ids, /*per_trial=*/true);
  if (context.parts > 1) {
    const std::int64_t each = context.batch / context.parts, begin = context.part * each;
    tokens = slice(tokens, 0, begin, begin + each);
    targets = slice(targets, 0, begin, begin + each);
  }
  const Graph::Scope scope(graph, "model", context.model.span());
  return {dynamic_cast<const SequenceModel&>(*context.model).logits(context.build, tokens), targets};
}

}  // namespace

TaskLoss SequenceTask::loss(const LossContext& context) const {
  const Prediction prediction = predict(context);
  const Graph::Scope scope(context.build.graph, "loss", context.span);
  const Value loss = cross_entropy(prediction.logits, prediction.targets);
  return {loss, loss};
}

SequenceTask::Judgement SequenceTask::judge(const LossContext& context) const {
  const Prediction prediction = predict(context);
  const Graph::Scope scope(context.build.graph, "loss", context.span);
  return {argmax(prediction.logits), cross_entropy_by_position(prediction.logits, prediction.targets)};
}

std::unique_ptr<const Batches> SequenceTask::batches(std::shared_ptr<const TokenizedCorpus> corpus) const {
  return std::make_unique<SequenceBatches>(*this, std::move(corpus));
}

std::string SequenceTask::refuse_model(const Model& model) const {
  return dynamic_cast<const SequenceModel*>(&model) != nullptr ? ""
                                                               : "it asks for the token at each position of a sequence";
}

}  // namespace jari
