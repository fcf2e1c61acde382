#pragma once
// Tasks on uniformly random sequences whose target is the token at another place of the same sequence. What has to be
// learned is where to look, and nothing else.

#include "framework/component/sequence_task.hpp"
#include "framework/spec/fields.hpp"

namespace jari {

struct CopyTaskParameters {
  std::int64_t vocabulary = 50;
  template <class F>
  void fields(F& f) {
    f("vocabulary", vocabulary, "distinct tokens, drawn uniformly", between(2, 1 << 30), unit("tokens"));
  }
};

class CopyTask : public SequenceTask {
 public:
  explicit CopyTask(std::int64_t vocabulary) : vocabulary_(vocabulary) {}

  std::int64_t vocabulary(const TokenizedCorpus* = nullptr) const final { return vocabulary_; }
  // Token `position` of sequence `sequence` is draw sequence * length + position of the stream.
  Batch batch(const LossContext& context) const final;
  bool has_target(std::int64_t position, std::int64_t length) const final { return source(position, length) >= 0; }

 protected:
  // Place of the token that is the target of `position`, or a negative number where the task asks for nothing.
  virtual std::int64_t source(std::int64_t position, std::int64_t length) const = 0;

 private:
  std::int64_t vocabulary_;
};

}  // namespace jari
