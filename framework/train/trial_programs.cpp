#include "framework/train/trial_programs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"

namespace jari {
namespace {

// Norm of all gradients together, as torch.nn.utils.clip_grad_norm_ takes it.
Value global_norm(const std::vector<Value>& gradients) {
  Value sum;
  for (const Value& gradient : gradients) {
    const Value squares = sum_all(square(gradient));
    sum = sum ? sum + squares : squares;
  }
  return sqrt(sum);
}

}  // namespace

DType real_type(Precision precision) { return precision == Precision::f64 ? DType::f64 : DType::f32; }

Value build_logits(const BuildContext& context, const Slot<Model>& model, Value tokens) {
  const Graph::Scope scope(context.graph, "model", model.span());
  return model->logits(context, tokens);
}

TrialPrograms::TrialPrograms(const Experiment& experiment, bool rewrites)
    : experiment_(experiment),
      rewrites_(rewrites),
      train_graph_(std::make_unique<Graph>(real_type(experiment.precision))) {
  train_graph_->set_rewrites(rewrites_);
  if (!experiment_.train) return;
  build_train();
  for (const auto& [name, spec] : experiment_.evaluate) evaluate_.push_back(build_evaluate(name, spec));
}

void TrialPrograms::plan() {
  if (!experiment_.train || train_) return;
  train_ = std::make_unique<Program>(*train_graph_);
  for (EvaluateProgram& evaluate : evaluate_) evaluate.program = std::make_unique<Program>(*evaluate.graph);
}

void TrialPrograms::build_train() {
  const TrainSpec& spec = *experiment_.train;
  Graph& graph = *train_graph_;
  const std::int64_t vocabulary = (*experiment_.task)->vocabulary();
  const BuildContext context{graph, declarations_, vocabulary, spec.length, spec.length, /*training=*/true};
  const TensorType ids{DType::i32, {spec.batch, spec.length}};

  const Value tokens = graph.input(kTokens, ids, /*per_trial=*/true);
  const Value targets = graph.input(kTargets, ids, /*per_trial=*/true);
  const Value logits = build_logits(context, *experiment_.model, tokens);
  Value loss;
  {
    const Graph::Scope scope(graph, "loss", experiment_.task->span());
    loss = cross_entropy(logits, targets);
  }
  graph.output(kLoss, loss);

  const std::vector<Value> parameters = graph.parameters();
  for (const Value& parameter : parameters) trained_.push_back(graph.node(parameter.node()).path);
  std::vector<Value> gradients = differentiate(graph, loss, parameters);

  const Graph::Scope scope(graph, "optimizer", spec.optimizer.span());
  const Value norm = global_norm(gradients);
  graph.output(kGradientNorm, norm);
  if (spec.clip_norm) {
    const Value one = graph.constant(1.0);
    const Value scale = minimum(one, graph.constant(*spec.clip_norm) / (norm + 1e-6));
    for (Value& gradient : gradients) gradient = gradient * scale;
  }
  const Value factor = graph.input(kScheduleFactor, {graph.real(), Shape{}}, /*per_trial=*/false);
  const Value step = random_inputs(graph).step;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    spec.optimizer->update({context, step, factor, trained_[i]}, parameters[i], gradients[i]);
  }
}

EvaluateProgram TrialPrograms::build_evaluate(const std::string& name, const EvaluateSpec& spec) {
  const std::int64_t batch = std::min(spec.batch, spec.sequences);
  auto graph = std::make_unique<Graph>(real_type(experiment_.precision));
  graph->set_rewrites(rewrites_);
  const BuildContext context{*graph,
                             declarations_,
                             (*experiment_.task)->vocabulary(),
                             spec.length,
                             experiment_.train->length,
                             /*training=*/false};
  const TensorType ids{DType::i32, {batch, spec.length}};
  const Value tokens = graph->input(kTokens, ids, /*per_trial=*/true);
  const Value targets = graph->input(kTargets, ids, /*per_trial=*/true);
  try {
    const Value logits = build_logits(context, *experiment_.model, tokens);
    const Graph::Scope scope(*graph, "loss", experiment_.task->span());
    graph->output(kPredictions, argmax(logits));
    graph->output(kLossByPosition, cross_entropy_by_position(logits, targets));
  } catch (const ShapeError& error) {
    const std::string where = fmt::format(" (in evaluate.{})", name);
    throw ShapeError(error.what() + where, error.message() + where, error.path(), error.span());
  }
  return {name, spec, batch, std::move(graph), nullptr};
}

std::int64_t TrialPrograms::trained_parameters() const {
  std::int64_t count = 0;
  for (const std::string& path : trained_) count += declarations_.find(path)->shape.size();
  return count;
}

std::vector<std::string> TrialPrograms::per_trial_paths() const { return per_trial_paths_of(*train_graph_); }

std::vector<std::string> per_trial_paths_of(const Graph& graph) {
  std::vector<std::string> paths;
  const std::string prefix = per_trial_input("");
  for (int i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    if (node.kind == NodeKind::input && node.path.starts_with(prefix)) paths.push_back(node.path.substr(prefix.size()));
  }
  return paths;
}

}  // namespace jari
