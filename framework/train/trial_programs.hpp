#pragma once
// The graphs and programs of one trial shape: what all trials of a fused group share.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/backend/communicator.hpp"
#include "framework/component/sequence_task.hpp"
#include "framework/program/program.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/text_sizes.hpp"

namespace jari {

// Names of the programs' inputs and outputs.
inline constexpr const char* kScheduleFactor = "schedule/factor";    // real scalar
inline constexpr const char* kScheduleHistory = "schedule/history";  // real [kAdamHistory]: before it, the newest last
inline constexpr const char* kLoss = "loss";                         // real scalar
inline constexpr const char* kGradientNorm = "gradient_norm";        // real scalar, before clipping
inline constexpr const char* kPredictions = "predictions";           // i32 [batch, length]
inline constexpr const char* kLossByPosition = "loss_by_position";   // real [batch, length]
inline constexpr const char* kTokens = "tokens";                     // i32 [batch, length], where they are a text
inline constexpr const char* kTargets = "targets";                   // i32 [batch, length], below 0: none

struct EvaluateProgram {
  std::string name;
  EvaluateSpec spec;
  BatchStream stream;
  std::int64_t batch = 0, sequences = 0;  // a batch; in all
  bool by_position = false;               // gives predictions and losses by position, not one loss
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Program> program;  // null until planned
};

class TrialPrograms {
 public:
  // Builds the graphs only, which is quick (a corpus is tokenized if no run has done it before). Throws ShapeError if
  // the components do not fit together, StoreError if a corpus or table can not be read. `rewrites`: see
  // Graph::set_rewrites.
  explicit TrialPrograms(const Experiment& experiment, bool rewrites = true);

  // Lays out memory and makes the kernels; before it there is nothing to run. `device`: null for the host.
  void plan(const std::shared_ptr<Device>& device = nullptr);
  // As plan() for the first device; with `train.data_parallel: n` the training is planned for the first n, a rank each.
  // DeviceError where there are fewer.
  void plan(const std::vector<std::shared_ptr<Device>>& devices);

  // The training's programs by rank; the first is train(). Empty as train() is null.
  struct Rank {
    const Program* program;
    std::shared_ptr<Communicator> communicator;  // null: it is alone
  };
  std::vector<Rank> ranks() const;

  bool on_device() const { return train_ && train_->device_bytes(1) > 0; }
  // Bytes that so many trials at once take on the device that this is planned for, with their state.
  std::size_t device_bytes(int trials) const;
  // Gives that memory back, until the next run.
  void leave_device() const;

  const Experiment& experiment() const { return experiment_; }
  bool rewrites() const { return rewrites_; }
  const Declarations& declarations() const { return declarations_; }
  const TokenizedCorpus* corpus() const { return corpus_.get(); }             // null without `data`
  const std::optional<TextSizes>& text_sizes() const { return text_sizes_; }  // of the tokens of a text
  const std::shared_ptr<const WordTable>& table() const { return table_; }    // null without `table`
  // Null without `train`, and where the graphs draw all of a batch.
  const Batches* batches() const { return batches_.get(); }
  const BatchStream& train_stream() const { return train_stream_; }
  const Graph& train_graph() const { return *train_graph_; }
  const Program* train() const { return train_.get(); }  // null without `train` and before plan()
  const std::vector<EvaluateProgram>& evaluate() const { return evaluate_; }
  // Brings all rows of all tables up to date; null if the optimizer lets none wait.
  const Program* settle() const { return settle_.get(); }

  State make_state(int trials) const { return State(*train_graph_, trials); }
  const std::vector<std::string>& trained_paths() const { return trained_; }
  std::int64_t trained_parameters() const;           // numbers that the optimizer changes
  std::vector<std::string> per_trial_paths() const;  // of the train graph, as below

 private:
  // A table of which a step reads only the rows that some ids name.
  struct RowTable {
    std::string path;
    Shape shape;
    std::vector<Value> ids;  // of the graph that was looked at
  };

  // The graph of another rank of the same training, and its program.
  struct Peer {
    std::unique_ptr<Graph> graph;
    std::unique_ptr<Program> program;
  };

  BuildContext context(Graph& graph, std::int64_t length, bool training);
  LossContext loss_context(const BuildContext& build, const BatchStream& stream, std::int64_t batch) const;
  std::int64_t sequences_of(const EvaluateSpec& spec) const;
  UpdateContext update_context(const BuildContext& build, const std::string& parameter) const;
  std::vector<RowTable> find_row_tables(Graph& graph);
  std::map<std::string, Value> prepare(Graph& graph, const std::vector<RowTable>& tables, bool all_rows);
  void build_train();
  void build_updates(const BuildContext& build, const std::map<std::string, Value>& prepared, std::int64_t rank);
  void plan_peers(const std::vector<std::shared_ptr<Device>>& devices);
  void build_settle(const std::vector<RowTable>& tables);
  EvaluateProgram build_evaluate(const std::string& name, const EvaluateSpec& spec);

  Experiment experiment_;
  bool rewrites_;
  std::shared_ptr<const TokenizedCorpus> corpus_;
  std::optional<TextSizes> text_sizes_;
  std::shared_ptr<const WordTable> table_;
  std::unique_ptr<const Batches> batches_;
  BatchStream train_stream_;
  Declarations declarations_;
  std::unique_ptr<Graph> train_graph_, settle_graph_;
  std::vector<std::string> trained_;  // paths of the model's parameters
  std::unique_ptr<Program> train_, settle_;
  bool is_planned_ = false;
  std::vector<Peer> peers_;                                   // ranks 1, 2 ...; empty with one
  std::vector<std::shared_ptr<Communicator>> communicators_;  // by rank; empty with one
  std::vector<EvaluateProgram> evaluate_;
};

DType real_type(Precision precision);
Products products_of(Precision precision);

// Paths in the spec of the hyperparameters that the graph takes from each trial.
std::vector<std::string> per_trial_paths_of(const Graph& graph);

}  // namespace jari
