#pragma once
// run.h5: the finished record of one trial (layout version 1, docs/run_file_format.md).

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "framework/store/metric_series.hpp"

namespace jari {

inline constexpr int kRunFileVersion = 1;

struct RunAttributes {
  std::string experiment;
  std::string trial;        // hash of its identity
  std::string label;        // "position=rel,seed=42"
  std::int64_t index = -1;  // place in the sweep's order; -1: unknown
  std::uint64_t seed = 0;
  std::string status = "finished";  // "finished", "stopped" (early, by the spec's rule), "diverged", "failed"
  std::string message;              // "" or what went wrong, of status "diverged"
  std::string jari_version;
  std::string git;
  std::string created;  // ISO 8601, UTC
  std::string device;
  std::int64_t threads = 0;

  bool operator==(const RunAttributes&) const = default;
};

// An array with a name from its group: "embedding/token", "extrapolated/accuracy_by_position".
struct RecordArray {
  using Values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                              std::vector<std::int64_t>, std::vector<std::string>>;
  std::string name;
  std::vector<std::int64_t> shape;
  Values values;                  // row-major
  std::vector<std::string> axes;  // one name for each axis, or none

  bool operator==(const RecordArray&) const = default;
};

struct RecordAnalysis {
  std::string name;
  std::vector<RecordArray> arrays;
  std::vector<std::pair<std::string, double>> numbers;  // "gap_1/mean"
  std::string skipped;                                  // "" or why there was nothing to look at

  bool operator==(const RecordAnalysis&) const = default;
};

struct RunRecord {
  RunAttributes attributes;
  std::string spec_resolved, spec_source, spec_overrides;  // YAML; overrides: one KEY=VALUE a line
  std::vector<MetricSeries> metrics;
  std::vector<RecordArray> evaluate;
  std::vector<RecordArray> weights;
  std::vector<std::pair<std::int64_t, std::string>> digests;  // of the trial's whole state, by step
  std::vector<std::string> vocabulary_tokens;                 // empty: the task has no words
  std::vector<std::int64_t> vocabulary_counts;
  std::string tokenizer_model;  // of a tokenizer that learned from the corpus
  std::vector<RecordAnalysis> analyses;
  std::vector<std::pair<std::string, std::string>> environment;     // "hdf5": "1.10.8"
  std::vector<std::pair<std::string, double>> environment_numbers;  // "peak_memory_bytes", "seconds_train"

  bool operator==(const RunRecord&) const = default;
};

// What `jari compare` needs of a run, read without its arrays.
struct RunSummary {
  std::filesystem::path path;
  RunAttributes attributes;
  std::string spec_resolved;
  std::vector<MetricSummary> metrics;                   // "train/loss"; those without values are left out
  std::vector<std::pair<std::string, double>> numbers;  // of analyses: "analyses/property/gap_1/mean"

  // A metric's value, or a number, which has only one; nothing if the run has neither.
  std::optional<double> find(const std::string& name, MetricValue value = MetricValue::last) const;
};

// What tells whether a trial is done, and how long it took.
struct RunOutline {
  RunAttributes attributes;
  double seconds_train = 0;  // of wall time, of all processes that worked on it; 0: unknown
};

class Hdf5File;

// Reads single parts of a run file, for those that look at many runs. What a run lacks is nothing, not an error.
class RunReader {
 public:
  explicit RunReader(const std::filesystem::path& path);  // StoreError as of `read_run_file`
  RunReader(RunReader&&) noexcept;
  ~RunReader();

  std::optional<MetricSeries> metric(const std::string& name) const;  // all its steps
  std::vector<std::string> analyses() const;
  std::string skipped(const std::string& analysis) const;           // "" or why it had nothing to look at
  std::vector<std::string> arrays(const std::string& group) const;  // paths below "evaluate", "weights" ...
  std::optional<RecordArray> array(const std::string& path) const;  // "evaluate/extrapolated/loss_by_position"

 private:
  std::unique_ptr<Hdf5File> file_;
};

// Atomic. StoreError if an array's values do not fill its shape, or the file can not be written.
void write_run_file(const std::filesystem::path& path, const RunRecord& record);

// StoreError if it is missing, no run file, damaged, or written by a newer jari.
RunRecord read_run_file(const std::filesystem::path& path);
RunSummary read_run_summary(const std::filesystem::path& path);
RunOutline read_run_outline(const std::filesystem::path& path);

}  // namespace jari
