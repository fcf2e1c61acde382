#pragma once
// Family `task`: what is to be learned: batches, and the loss of a model on them.

#include <cstdint>
#include <memory>
#include <string>

#include "framework/base/philox.hpp"
#include "framework/component/model.hpp"
#include "framework/graph/tensors.hpp"
#include "framework/registry/slot.hpp"

namespace jari {

// The batches of a training or of an evaluation. What is in one depends on the trial's seed, on this and on the step.
struct BatchStream {
  std::uint64_t draws = 0;  // stream of its random numbers
  bool training = true;     // false: of an evaluation
  std::int64_t length = 0;  // tokens a sequence, of a task of sequences
  std::int64_t stride = 0;  // of an evaluation over a text: tokens from one sequence to the next
};

struct BatchContext {
  RandomStream random;  // of this batch: the trial's seed, the stream's draws, the step
  const BatchStream& stream;
};

// What batches are made of beside what the graph draws: data that graphs read in place, inputs that the host fills. One
// serves all trials of a fused group, on several threads at a time, and outlives its graphs.
class Batches {
 public:
  virtual ~Batches() = default;
  // Fills the inputs that the task's loss() made, from the context alone.
  virtual void fill(const BatchContext& /*context*/, const Tensors& /*inputs*/) const {}
};

struct LossContext {
  const BuildContext& build;
  const Slot<Model>& model;
  const BatchStream& stream;
  const Batches* batches = nullptr;  // as Task::batches() made them
  std::int64_t batch = 0;            // sequences, or what else the task counts
  SourceSpan span;                   // of the task in the spec
  // Which of how many equal parts of the batch the loss is of (`train.accumulate`).
  std::int64_t part = 0, parts = 1;

  std::int64_t batch_of_part() const { return batch / parts; }
  std::int64_t begin_of_part() const { return part * batch_of_part(); }  // in the batch
};

struct TaskLoss {
  Value loss;       // real scalar, recorded: comparable whatever the batch's size
  Value objective;  // real scalar that the optimizer goes down; usually the loss
};

class SequenceTask;

class Task {
 public:
  static constexpr const char* kFamily = "task";
  virtual ~Task() = default;

  // Distinct ids. `corpus`: of the spec's `data`, null for tasks that read none.
  virtual std::int64_t vocabulary(const TokenizedCorpus* corpus) const = 0;

  // Adds batch, model and loss to the graph.
  virtual TaskLoss loss(const LossContext& context) const = 0;

  // Null where the graph draws all of a batch. The task must outlive it. StoreError where the corpus does not fit it.
  virtual std::unique_ptr<const Batches> batches(std::shared_ptr<const TokenizedCorpus> corpus) const = 0;

  // "" if it can train this model; otherwise the reason, for the spec's author.
  virtual std::string refuse_model(const Model& model) const = 0;

  // Whether its batches come from the spec's `data`.
  virtual bool reads_data() const { return false; }

  // Steps that go once over the corpus; 0 for a task that draws at random, which knows no epochs.
  virtual std::int64_t steps_of_epoch(const TokenizedCorpus& /*corpus*/, std::int64_t /*batch*/,
                                      std::int64_t /*length*/) const {
    return 0;
  }
  virtual bool has_epochs() const { return false; }

  // Itself, if it is a task of sequences, which have a length.
  virtual const SequenceTask* as_sequence_task() const { return nullptr; }
};

}  // namespace jari
