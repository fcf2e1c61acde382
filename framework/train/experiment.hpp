#pragma once
// The top level of a spec, typed: what one trial is. `sweep`, `seeds` and `plugins` belong to the file, not to a trial;
// framework/sweep reads them.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/component/analysis.hpp"
#include "framework/component/model.hpp"
#include "framework/component/optimizer.hpp"
#include "framework/component/sequence_task.hpp"
#include "framework/registry/slot.hpp"
#include "framework/spec/fields.hpp"
#include "framework/spec/spec_node.hpp"
#include "framework/train/data_spec.hpp"
#include "framework/train/device_spec.hpp"
#include "framework/train/sweep_spec.hpp"
#include "framework/train/table_spec.hpp"

namespace jari {

enum class Precision { f32, tf32, bf16, f64 };
inline const EnumNames<Precision>& enum_names(Precision) {
  static const EnumNames<Precision> names{
      {Precision::f32, "f32"}, {Precision::tf32, "tf32"}, {Precision::bf16, "bf16"}, {Precision::f64, "f64"}};
  return names;
}

struct CheckpointSpec {
  std::int64_t every = 500;
  std::int64_t keep = 2;

  template <class F>
  void fields(F& f) {
    f("every", every, "steps between checkpoints", at_least(1), unit("steps"));
    f("keep", keep, "newest checkpoints that stay on the disk", between(1, 100));
  }
};

enum class Goal { minimize, maximize };
inline const EnumNames<Goal>& enum_names(Goal) {
  static const EnumNames<Goal> names{{Goal::minimize, "minimize"}, {Goal::maximize, "maximize"}};
  return names;
}

struct StopSpec {
  std::string metric;
  Goal goal = Goal::minimize;
  std::int64_t patience = 5;
  double min_delta = 0;

  template <class F>
  void fields(F& f) {
    f("metric", metric, "metric to watch, e.g. evaluate/trained/loss", required);
    f("goal", goal, "whether smaller or larger is better");
    f("patience", patience, "evaluations without improvement before the trial stops", at_least(1));
    f("min_delta", min_delta, "smallest change that counts as an improvement", at_least(0));
  }
};

struct TrainSpec {
  std::int64_t steps = 0;  // as given, or those of `epochs` (bind_trial)
  std::optional<std::int64_t> given_steps, epochs;
  std::int64_t batch = 0;
  std::optional<std::int64_t> length;
  std::int64_t accumulate = 1;
  std::int64_t data_parallel = 1;
  std::optional<double> clip_norm;
  Slot<Optimizer> optimizer;
  Slot<Schedule> schedule{"constant"};
  std::int64_t log_every = 100;
  std::optional<std::int64_t> evaluate_every;
  CheckpointSpec checkpoint;
  std::optional<StopSpec> stop;

  template <class F>
  void fields(F& f) {
    f("steps", given_steps, "optimizer steps", at_least(0), unit("steps"));
    f("epochs", epochs, "times that a task goes over its corpus, in place of steps", at_least(1));
    f("batch", batch, "sequences a step, or words of a corpus", required, at_least(1), unit("sequences"));
    f("length", length, "tokens a sequence, for tasks of sequences", at_least(1), unit("tokens"));
    f("accumulate", accumulate,
      "parts that a batch is cut into, one after the other, before the step: less memory, the same gradient",
      between(1, 1024));
    f("data_parallel", data_parallel,
      "cards that train a trial together, each a part of every batch; gradients are summed between them (NCCL)",
      between(1, 64));
    f("clip_norm", clip_norm, "largest norm of all gradients together; longer ones are scaled down", more_than(0));
    f("optimizer", optimizer, "how parameters follow their gradients", required);
    f("schedule", schedule, "factor on the learning rate over the steps");
    f("log_every", log_every, "steps between records of train/loss", at_least(1), unit("steps"));
    f("evaluate_every", evaluate_every, "steps between evaluations; without it only after the last step", at_least(1),
      unit("steps"));
    f("checkpoint", checkpoint, "what a killed process can go on from", output_setting);
    f("stop", stop, "ends a trial that no longer improves");
  }
  void check(FieldChecks& checks) const {
    if (batch % accumulate != 0)
      checks.error("accumulate", std::to_string(accumulate) + " does not divide the batch of " + std::to_string(batch),
                   "all parts of a batch are of one size");
    if (batch % data_parallel != 0)
      checks.error("data_parallel",
                   std::to_string(data_parallel) + " does not divide the batch of " + std::to_string(batch),
                   "all cards take equal parts of a batch");
    if (data_parallel > 1 && accumulate > 1)
      checks.error("data_parallel", "does not go together with accumulate", "take one of the two out");
    if (given_steps && epochs) checks.error("epochs", "steps are given as well", "take one of the two out");
    if (!given_steps && !epochs) checks.error("", "neither steps nor epochs are given", "add for example steps: 3000");
    if (stop && !evaluate_every) {
      checks.error("stop", "nothing is evaluated during training", "set train.evaluate_every");
    }
  }
};

struct EvaluateSpec {
  std::optional<std::int64_t> length;
  std::int64_t sequences = 4096;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> stride;
  std::optional<std::int64_t> seen;

  template <class F>
  void fields(F& f) {
    f("length", length, "tokens a sequence, for tasks of sequences", at_least(1), unit("tokens"));
    f("sequences", sequences, "sequences to test on, at most those that a text has; or words drawn from a corpus",
      at_least(1), unit("sequences"));
    f("batch", batch, "sequences at a time, by default 256 or fewer long ones; does not change the result", at_least(1),
      unit("sequences"), output_setting);
    f("stride", stride,
      "tokens from one sequence of a text to the next, of which only the last `stride` count; by default `length`",
      at_least(1), unit("tokens"));
    f("seen", seen, "positions 0 to seen-1 count as seen in training: adds accuracy_seen and accuracy_new", at_least(1),
      unit("positions"));
  }
  // Sequences at a time: not more tokens than 8,192, since what a model keeps of each may be large.
  std::int64_t batch_size() const {
    return batch.value_or(std::clamp<std::int64_t>(8192 / length.value_or(1), 1, 256));
  }
  std::int64_t stride_or_length() const { return stride.value_or(length.value_or(0)); }
  void check(FieldChecks& checks) const {
    if (stride && length && *stride > *length)
      checks.error("stride", "some tokens would stand in no sequence", "give at most the length");
    if (seen && length && *seen >= *length) {
      checks.error("seen", "all positions would count as seen", "give a number below length, or leave `seen` out");
    }
  }
};

enum class Keep { all, best, none };
inline const EnumNames<Keep>& enum_names(Keep) {
  static const EnumNames<Keep> names{{Keep::all, "all"}, {Keep::best, "best"}, {Keep::none, "none"}};
  return names;
}

enum class Among { combination, sweep };
inline const EnumNames<Among>& enum_names(Among) {
  static const EnumNames<Among> names{{Among::combination, "combination"}, {Among::sweep, "sweep"}};
  return names;
}

struct KeepSpec {
  Keep weights = Keep::all;
  Keep checkpoints = Keep::none;
  std::string metric;
  Goal goal = Goal::maximize;
  Among among = Among::combination;

  template <class F>
  void fields(F& f) {
    f("weights", weights, "trials whose run files hold the weights");
    f("checkpoints", checkpoints, "trials whose last checkpoint, with the optimizer's state, stays after the end");
    f("metric", metric, "metric whose last value says which trial is best, e.g. evaluate/extrapolated/accuracy");
    f("goal", goal, "whether smaller or larger is better");
    f("among", among, "best of the seeds of each combination of values, or of the whole sweep");
  }
  void check(FieldChecks& checks) const {
    const bool wants_best = weights == Keep::best || checkpoints == Keep::best;
    if (wants_best && metric.empty()) {
      checks.error("metric", "`best` needs a metric to judge by", "set keep.metric, e.g. evaluate/trained/accuracy");
    }
    if (!wants_best && !metric.empty()) {
      checks.error("metric", "has no effect: neither weights nor checkpoints are kept of the `best`",
                   "set keep.weights: best, or take `metric` out");
    }
  }
};

struct Experiment {
  std::string experiment;
  std::string description;
  SpecNode notes;
  std::vector<std::string> plugins;
  std::int64_t seed = 42;
  std::int64_t seeds = 1;
  DeviceSpec device;
  std::int64_t threads = 0;
  Precision precision = Precision::f32;
  std::optional<DataSpec> data;
  std::optional<TableSpec> table;
  std::optional<Slot<Task>> task;
  std::optional<Slot<Model>> model;
  std::optional<TrainSpec> train;
  SpecMap<EvaluateSpec> evaluate;
  SpecMap<Slot<Analysis>> analyses;
  KeepSpec keep;
  std::optional<SweepSpec> sweep;

  template <class F>
  void fields(F& f) {
    f("experiment", experiment, "names the folder under runs/", required, output_setting);
    f("description", description, "the question that the experiment asks", output_setting);
    f("notes", notes, "anything: not read", output_setting);
    f("plugins", plugins, "loadable modules with more components, relative to the spec's folder", output_setting);
    f("seed", seed, "seed of the first trial", at_least(0));
    f("seeds", seeds, "trials with the seeds seed, seed+1, ...", between(1, 100000), output_setting);
    f("device", device,
      "where to train: auto (on the cards of this machine, or on the CPU where there is none), cpu, cuda, or one card "
      "by "
      "its number, as cuda:0",
      output_setting);
    f("threads", threads, "cores to use; 0 is all of them. Does not change the result", at_least(0), output_setting);
    f("precision", precision,
      "of parameters and activations; bf16: f32, and large matrix products round what they multiply; tf32: the same "
      "with more digits, on NVIDIA's cards alone; f64 is for reference runs");
    f("data", data, "a corpus, and how it becomes ids; for tasks that read text");
    f("table", table, "vectors of another program, for analyses to look into");
    f("task", task, "what is to be learned");
    f("model", model, "what learns it");
    f("train", train, "how it is trained");
    f("evaluate", evaluate, "tests by name, during and after training");
    f("analyses", analyses, "what is looked at after training, by name");
    f("keep", keep, "what stays on the disk of trials that have ended", output_setting);
    f("sweep", sweep, "what varies from trial to trial", output_setting);
  }

  void check(FieldChecks& checks) const;
};

}  // namespace jari
