#pragma once
// Tasks of sequences: every position of a sequence of tokens has a target token, or none.

#include "framework/component/task.hpp"

namespace jari {

// What sequences are asked of a corpus.
struct SequenceWindows {
  const TokenizedCorpus* corpus = nullptr;
  std::int64_t length = 0, stride = 0;
  bool training = true;
};

class SequenceTask : public Task {
 public:
  static constexpr std::int64_t kEndless = -1;

  struct Batch {
    Value tokens, targets;  // i32 [batch, length]; a target is a token id, or -1 where the task asks for nothing
  };
  // Adds what makes a batch to the graph, or the part of one that the context names: in the graph, so that on a device
  // nothing of it passes from the host.
  virtual Batch batch(const LossContext& context) const = 0;

  // Whether position i of a sequence of that length has a target (the same for all sequences), for accuracy by
  // position.
  virtual bool has_target(std::int64_t position, std::int64_t length) const = 0;

  // How many sequences there are; kEndless where they are drawn. StoreError where the corpus has none of that length.
  virtual std::int64_t sequences(const SequenceWindows& /*windows*/) const { return kEndless; }

  // Whether a sequence is a stretch of the corpus' text and each target the token after it, so that losses can be told
  // by character and byte, and evaluations have a stride.
  virtual bool predicts_text() const { return false; }

  // "" if sequences of this length make sense; otherwise the reason, for the spec's author.
  virtual std::string refuse_length(std::int64_t /*length*/) const { return ""; }

  // What an evaluation looks at.
  struct Judgement {
    Batch batch;
    Value predictions;       // i32 [batch, length]
    Value loss_by_position;  // real [batch, length]
  };
  Judgement judge(const LossContext& context) const;

  TaskLoss loss(const LossContext& context) const final;
  std::unique_ptr<const Batches> batches(std::shared_ptr<const TokenizedCorpus> corpus) const override;
  std::string refuse_model(const Model& model) const override;
  const SequenceTask* as_sequence_task() const final { return this; }
};

}  // namespace jari
