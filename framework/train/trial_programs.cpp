#include "framework/train/trial_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/graph/copy.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/row_updates.hpp"
#include "framework/train/token_cache.hpp"

namespace jari {
namespace {

// A parameter's gradient: dense, or the rows of its table that have one.
struct Gradient {
  Value dense;
  std::optional<RowGradient> rows;

  void scale(Value factor) {
    Value& numbers = rows ? rows->rows : dense;
    numbers = numbers * factor;
  }
};

// Norm of all gradients together, as torch.nn.utils.clip_grad_norm_ takes it.
Value global_norm(const std::vector<Gradient>& gradients) {
  std::vector<Value> dense;
  Value sum;
  for (const Gradient& gradient : gradients) {
    if (!gradient.rows) {
      dense.push_back(gradient.dense);
    } else {
      sum = sum ? sum + gradient.rows->squares : gradient.rows->squares;
    }
  }
  if (!dense.empty()) sum = sum ? sum + sum_of_squares(dense) : sum_of_squares(dense);
  return sqrt(sum);
}

std::vector<Gradient> gradients_of(Graph& graph, Value objective, const std::vector<Value>& parameters) {
  std::vector<Gradient> gradients;
  for (const Value& dense : differentiate(graph, objective, parameters))
    gradients.push_back({dense, graph.rewrites() ? row_gradient(dense) : std::nullopt});
  return gradients;
}

struct Step {
  Value loss;
  std::vector<Gradient> gradients;
};

// Parts of a batch, of `all` equal ones: those that are computed one after the other by one device.
struct Parts {
  std::int64_t begin, end, all;
};

// Loss and gradients of parts of a batch, each divided by the number of all parts. What one part needs is done with
// before the next begins, so it takes the memory of one. `parameters` are there once a loss is.
Step build_step(const Task& task, const LossContext& whole, const Parts& which,
                const std::function<const std::vector<Value>&()>& parameters) {
  Step step;
  const std::int64_t parts = which.all;
  for (std::int64_t part = which.begin; part < which.end; ++part) {
    BuildContext build = whole.build;
    build.part = part;
    TaskLoss loss = task.loss({build, whole.model, whole.stream, whole.batches, whole.batch, whole.span, part, parts});
    if (parts > 1) loss = {loss.loss / static_cast<double>(parts), loss.objective / static_cast<double>(parts)};
    std::vector<Gradient> gradients = gradients_of(build.graph, loss.objective, parameters());
    if (parts > 1) {
      for (Gradient& gradient : gradients) gradient.rows.reset();
    }
    if (part == which.begin) {
      step = {loss.loss, std::move(gradients)};
      continue;
    }
    step.loss = step.loss + loss.loss;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      step.gradients[i].dense = step.gradients[i].dense + gradients[i].dense;
    }
  }
  return step;
}

// Of all ranks, from that of one.
void sum_over_ranks(Step& step) {
  step.loss = all_reduce(step.loss);
  for (Gradient& gradient : step.gradients) gradient.dense = all_reduce(gradient.dense);
}

// Each once, in order; nothing if one depends on what is trained, and so is not known before a step.
std::optional<std::vector<Value>> known_before_a_step(const std::vector<Value>& ids) {
  std::set<Value> distinct;
  for (const Value& each : ids) {
    Value value = each;
    while (value.graph().node(value.node()).op == &op_reshape) value = value.graph().node(value.node()).inputs[0];
    if (!needs_no_parameter(value)) return std::nullopt;
    distinct.insert(value);
  }
  return std::vector<Value>(distinct.begin(), distinct.end());
}

}  // namespace

Products products_of(Precision precision) {
  if (precision == Precision::tf32) return Products::tf32;
  return precision == Precision::bf16 ? Products::bf16 : Products::exact;
}

DType real_type(Precision precision) { return precision == Precision::f64 ? DType::f64 : DType::f32; }

TrialPrograms::TrialPrograms(const Experiment& experiment, bool rewrites)
    : experiment_(experiment),
      rewrites_(rewrites),
      corpus_(experiment.data ? tokenized_corpus(*experiment.data) : nullptr),
      table_(experiment.table ? experiment.table->read() : nullptr),
      train_graph_(std::make_unique<Graph>(real_type(experiment.precision), products_of(experiment.precision))) {
  if (!experiment_.train) return;
  train_stream_ = {hash64("train"), /*training=*/true, experiment_.train->length.value_or(0)};
  batches_ = (*experiment_.task)->batches(corpus_);
  if (corpus_) text_sizes_ = TextSizes::of(*experiment.data->learned_tokenizer(corpus_->model), corpus_->vocabulary);
  build_train();
  for (const auto& [name, spec] : experiment_.evaluate) evaluate_.push_back(build_evaluate(name, spec));
}

void TrialPrograms::plan(const std::shared_ptr<Device>& device) {
  if (!experiment_.train || is_planned_) return;
  is_planned_ = true;
  if (!train_) train_ = std::make_unique<Program>(*train_graph_, device);
  if (settle_graph_) settle_ = std::make_unique<Program>(*settle_graph_, device);
  for (EvaluateProgram& evaluate : evaluate_) evaluate.program = std::make_unique<Program>(*evaluate.graph, device);
}

void TrialPrograms::plan(const std::vector<std::shared_ptr<Device>>& devices) {
  if (experiment_.train && !train_ && experiment_.train->data_parallel > 1 && !devices.empty()) plan_peers(devices);
  plan(devices.empty() ? nullptr : devices.front());
}

void TrialPrograms::plan_peers(const std::vector<std::shared_ptr<Device>>& devices) {
  const auto count = static_cast<std::size_t>(experiment_.train->data_parallel);
  if (devices.size() < count)
    throw DeviceError(
        fmt::format("train.data_parallel: {} takes that many cards, and there are {}", count, devices.size()));
  const std::vector<std::shared_ptr<Device>> used(devices.begin(),
                                                  devices.begin() + static_cast<std::ptrdiff_t>(count));
  communicators_ = used.front()->make_communicators(used);
  train_ = std::make_unique<Program>(*train_graph_, used.front(), communicators_.front());
  for (std::size_t rank = 1; rank < count; ++rank) {
    auto graph = std::make_unique<Graph>(real_type(experiment_.precision), products_of(experiment_.precision));
    build_updates(context(*graph, experiment_.train->length.value_or(0), /*training=*/true), {},
                  static_cast<std::int64_t>(rank));
    auto program = std::make_unique<Program>(*graph, used[rank], communicators_[rank]);
    // Ranks that sum in different orders would wait for each other for ever.
    JARI_ASSERT(program->observable_paths() == train_->observable_paths(), "ranks of one training differ");
    peers_.push_back({std::move(graph), std::move(program)});
  }
}

std::vector<TrialPrograms::Rank> TrialPrograms::ranks() const {
  if (!train_) return {};
  std::vector<Rank> ranks{{train_.get(), communicators_.empty() ? nullptr : communicators_.front()}};
  for (std::size_t i = 0; i < peers_.size(); ++i) ranks.push_back({peers_[i].program.get(), communicators_[i + 1]});
  return ranks;
}

std::size_t TrialPrograms::device_bytes(int trials) const {
  if (!train_) return 0;
  const std::size_t state = train_->report().state_bytes;
  std::size_t bytes = train_->device_bytes(trials) + state * static_cast<std::size_t>(trials);
  if (settle_) bytes += settle_->device_bytes(1) + state;
  const int evaluated = settle_ ? 1 : trials;  // at once
  for (const EvaluateProgram& evaluate : evaluate_)
    bytes += evaluate.program->device_bytes(evaluated) - evaluate.program->report().resident_bytes;  // training's
  return bytes;
}

void TrialPrograms::leave_device() const {
  if (train_) train_->leave_device();
  if (settle_) settle_->leave_device();
  for (const EvaluateProgram& evaluate : evaluate_) {
    if (evaluate.program) evaluate.program->leave_device();
  }
}

BuildContext TrialPrograms::context(Graph& graph, std::int64_t length, bool training) {
  graph.set_rewrites(rewrites_);
  return {.graph = graph,
          .declarations = declarations_,
          .vocabulary = (*experiment_.task)->vocabulary(corpus_.get()),
          .length = length,
          .trained_length = experiment_.train->length.value_or(0),
          .training = training,
          .corpus = corpus_.get()};
}

LossContext TrialPrograms::loss_context(const BuildContext& build, const BatchStream& stream,
                                        std::int64_t batch) const {
  return {build, *experiment_.model, stream, batches_.get(), batch, experiment_.task->span()};
}

UpdateContext TrialPrograms::update_context(const BuildContext& build, const std::string& parameter) const {
  Graph& graph = build.graph;
  const Value factor = graph.input(kScheduleFactor, {graph.real(), Shape{}}, /*per_trial=*/false);
  return {build, random_inputs(graph).step, factor, Value(), parameter};
}

// Builds the training once in `graph`, to see how its parameters are read.
std::vector<TrialPrograms::RowTable> TrialPrograms::find_row_tables(Graph& graph) {
  const BuildContext build = context(graph, experiment_.train->length.value_or(0), /*training=*/true);
  const TaskLoss loss = (*experiment_.task)->loss(loss_context(build, train_stream_, experiment_.train->batch));
  const std::vector<Value> parameters = graph.parameters();
  for (const Value& parameter : parameters) trained_.push_back(graph.node(parameter.node()).path);
  const std::vector<Gradient> gradients = gradients_of(graph, loss.objective, parameters);
  // Sums of parts' gradients are not kept by row.
  if (experiment_.train->accumulate > 1 || experiment_.train->data_parallel > 1) return {};
  std::vector<RowTable> tables;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto ids = gradients[i].rows ? rows_read_of(graph, parameters[i]) : std::nullopt;
    const auto known = ids ? known_before_a_step(*ids) : std::nullopt;
    if (known) tables.push_back({trained_[i], parameters[i].shape(), *known});
  }
  return tables;
}

std::map<std::string, Value> TrialPrograms::prepare(Graph& graph, const std::vector<RowTable>& tables, bool all_rows) {
  std::map<std::string, Value> prepared;
  const BuildContext build = context(graph, 0, /*training=*/true);
  const Slot<Optimizer>& optimizer = experiment_.train->optimizer;
  for (const RowTable& table : tables) {
    std::vector<Value> ids;
    for (const Value& value : table.ids) {
      if (!all_rows) ids.push_back(copied_into(graph, value));
    }
    const Value parameter = graph.parameter(table.path, table.shape);
    const Graph::Scope scope(graph, "optimizer", optimizer.span());
    UpdateContext update = update_context(build, table.path);
    update.schedule_history = graph.input(kScheduleHistory, {graph.real(), Shape{kAdamHistory}}, /*per_trial=*/false);
    const Value value = optimizer->prepare(update, parameter, ids);
    if (value != parameter) prepared.emplace(table.path, value);
  }
  return prepared;
}

void TrialPrograms::build_train() {
  if (const SequenceTask* task = (*experiment_.task)->as_sequence_task())
    task->sequences({corpus_.get(), *experiment_.train->length, *experiment_.train->length, /*training=*/true});
  Graph looked_at(real_type(experiment_.precision), products_of(experiment_.precision));
  const std::vector<RowTable> tables = find_row_tables(looked_at);
  Graph& graph = *train_graph_;
  graph.set_rewrites(rewrites_);
  const std::map<std::string, Value> prepared = prepare(graph, tables, /*all_rows=*/false);
  BuildContext build = context(graph, experiment_.train->length.value_or(0), /*training=*/true);
  build.prepared = &prepared;
  build_updates(build, prepared, /*rank=*/0);
  if (!prepared.empty()) build_settle(tables);
}

void TrialPrograms::build_updates(const BuildContext& build, const std::map<std::string, Value>& prepared,
                                  std::int64_t rank) {
  const TrainSpec& spec = *experiment_.train;
  Graph& graph = build.graph;
  std::vector<Value> parameters;
  const auto find_parameters = [&]() -> const std::vector<Value>& {
    if (!parameters.empty()) return parameters;
    for (const std::string& path : trained_) {
      const auto found = prepared.find(path);
      parameters.push_back(found == prepared.end() ? graph.find_parameter(path) : found->second);
    }
    return parameters;
  };
  // A rank computes its part of the batch; alone it computes all parts, one after the other.
  const bool has_peers = spec.data_parallel > 1;
  const Parts parts =
      has_peers ? Parts{rank, rank + 1, spec.data_parallel} : Parts{0, spec.accumulate, spec.accumulate};
  Step step = build_step(**experiment_.task, loss_context(build, train_stream_, spec.batch), parts, find_parameters);
  if (has_peers) sum_over_ranks(step);
  graph.output(kLoss, step.loss);
  std::vector<Gradient>& gradients = step.gradients;

  const Graph::Scope scope(graph, "optimizer", spec.optimizer.span());
  const Value norm = global_norm(gradients);
  graph.output(kGradientNorm, norm);
  if (spec.clip_norm) {
    const Value one = graph.constant(1.0);
    const Value scale = minimum(one, graph.constant(*spec.clip_norm) / (norm + 1e-6));
    for (Gradient& gradient : gradients) gradient.scale(scale);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Gradient& gradient = gradients[i];
    spec.optimizer->update(update_context(build, trained_[i]), parameters[i],
                           gradient.rows ? as_gradient(*gradient.rows, parameters[i].shape()[0]) : gradient.dense);
  }
}

void TrialPrograms::build_settle(const std::vector<RowTable>& tables) {
  settle_graph_ = std::make_unique<Graph>(real_type(experiment_.precision), products_of(experiment_.precision));
  for (const auto& [path, value] : prepare(*settle_graph_, tables, /*all_rows=*/true))
    settle_graph_->update(settle_graph_->find_parameter(path), value);
}

std::int64_t TrialPrograms::sequences_of(const EvaluateSpec& spec) const {
  const SequenceTask* task = (*experiment_.task)->as_sequence_task();
  if (task == nullptr) return spec.sequences;
  const std::int64_t length = *spec.length;
  const std::int64_t most = task->sequences({corpus_.get(), length, spec.stride.value_or(length), /*training=*/false});
  return most == SequenceTask::kEndless ? spec.sequences : std::min(spec.sequences, most);
}

EvaluateProgram TrialPrograms::build_evaluate(const std::string& name, const EvaluateSpec& spec) {
  EvaluateProgram evaluate;
  evaluate.name = name;
  evaluate.spec = spec;
  evaluate.stream = {hash64("evaluate/" + name), /*training=*/false, spec.length.value_or(0), spec.stride_or_length()};
  evaluate.sequences = sequences_of(spec);
  evaluate.graph = std::make_unique<Graph>(real_type(experiment_.precision), products_of(experiment_.precision));
  evaluate.batch = std::min(spec.batch_size(), evaluate.sequences);
  Graph& graph = *evaluate.graph;
  const BuildContext build = context(graph, spec.length.value_or(0), /*training=*/false);
  const LossContext loss = loss_context(build, evaluate.stream, evaluate.batch);
  try {
    if (const SequenceTask* task = (*experiment_.task)->as_sequence_task()) {
      const SequenceTask::Judgement judgement = task->judge(loss);
      graph.output(kPredictions, judgement.predictions);
      graph.output(kLossByPosition, judgement.loss_by_position);
      graph.output(kTargets, judgement.batch.targets);
      if (task->predicts_text()) graph.output(kTokens, judgement.batch.tokens);
      evaluate.by_position = true;
    } else {
      graph.output(kLoss, (*experiment_.task)->loss(loss).loss);
    }
  } catch (const ShapeError& error) {
    const std::string where = fmt::format(" (in evaluate.{})", name);
    throw ShapeError(error.what() + where, error.message() + where, error.path(), error.span());
  }
  return evaluate;
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
