#include "framework/train/language_model_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "framework/base/error.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace jari {
namespace {

RecordedModel bind_model(const SpecNode& resolved, const Registry& registry) {
  SpecNode needed = SpecNode::mapping(resolved.span);
  for (const char* key : {"precision", "data", "task", "model"})
    if (const SpecNode* value = resolved.find(key)) needed.set(key, *value, value->span);
  if (const SpecNode* length = resolved.find_path("train.length"))
    needed.set("train", SpecNode::mapping(length->span)).set("length", *length, length->span);
  Diagnostics diagnostics;
  RecordedModel result;
  SpecNode bound;
  Binder(&registry, diagnostics).bind(needed, "", result, bound);
  diagnostics.throw_if_any();
  return result;
}

}  // namespace

LanguageModelRun::LanguageModelRun(RunRecord record, const std::string& path, const Registry& registry)
    : record_(std::move(record)), path_(path) {
  Diagnostics diagnostics;
  resolved_ = read_yaml_text(record_.spec_resolved, path + ":/spec/resolved", diagnostics);
  diagnostics.throw_if_any();
  if (record_.vocabulary_tokens.empty()) refuse("its task reads no text");
  spec_ = bind_model(resolved_, registry);
  const SequenceTask* task = spec_.task->as_sequence_task();
  if (task == nullptr || !task->predicts_text())
    refuse(fmt::format("its task '{}' does not predict a text", spec_.task.type()));
  model_ = dynamic_cast<const SequenceModel*>(&*spec_.model);
  if (model_ == nullptr || !model_->is_causal())
    refuse(fmt::format("tokens of its model '{}' see what comes after them", spec_.model.type()));
  if (record_.weights.empty() || !spec_.train)
    throw StoreError(
        fmt::format("{}: holds no weights (keep.weights, or the trial failed); train it with keep.weights: "
                    "all",
                    path_));
  text_ = std::make_unique<const RecordedText>(spec_.data, record_);
}

void LanguageModelRun::refuse(const std::string& reason) const {
  throw StoreError(
      fmt::format("{}: is no run of a language model: {}; give one of task/language_model with a causal "
                  "model, such as model/gpt",
                  path_, reason));
}

}  // namespace jari
