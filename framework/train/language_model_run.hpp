#pragma once
// A finished run of a language model: what it was trained to be, its weights, its text.

#include <memory>
#include <optional>
#include <string>

#include "framework/component/sequence_task.hpp"
#include "framework/registry/registry.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/recorded_text.hpp"

namespace jari {

struct RecordedTraining {
  std::int64_t length = 0;
  template <class F>
  void fields(F& f) {
    f("length", length, "tokens a sequence", required, at_least(1));
  }
};

// Of the resolved spec, what a model needs to be built again.
struct RecordedModel {
  Precision precision = Precision::f32;
  RecordedData data;
  Slot<Task> task;
  Slot<Model> model;
  std::optional<RecordedTraining> train;
  template <class F>
  void fields(F& f) {
    f("precision", precision, "element type of parameters and activations");
    f("data", data, "how the corpus became ids", required);
    f("task", task, "what was learned", required);
    f("model", model, "what learned it", required);
    f("train", train, "how it was trained");
  }
};

class LanguageModelRun {
 public:
  // StoreError with the path if the run is no language model (its task predicts no text, or the model sees what comes
  // later) or holds no weights; SpecError if this jari does not understand its spec.
  LanguageModelRun(RunRecord record, const std::string& path, const Registry& registry);

  const RunRecord& record() const { return record_; }
  const std::string& path() const { return path_; }
  const SpecNode& resolved() const { return resolved_; }
  Precision precision() const { return spec_.precision; }
  const SequenceModel& model() const { return *model_; }
  std::int64_t trained_length() const { return spec_.train->length; }
  const RecordedText& text() const { return *text_; }

 private:
  [[noreturn]] void refuse(const std::string& reason) const;

  RunRecord record_;
  std::string path_;
  SpecNode resolved_;
  RecordedModel spec_;
  const SequenceModel* model_ = nullptr;  // the one in spec_
  std::unique_ptr<const RecordedText> text_;
};

}  // namespace jari
