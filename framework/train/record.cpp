#include "framework/train/record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <type_traits>

#include "framework/base/error.hpp"
#include "framework/base/version.hpp"

namespace jari {
namespace {

std::vector<float> to_f32(const std::vector<double>& values) {
  std::vector<float> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [](double value) { return static_cast<float>(value); });
  return result;
}

// "/weights/embedding": the scope "model/" that all share is left out.
std::string weight_name(const std::string& path) {
  const std::string prefix = "model/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

std::vector<RecordArray> weights(const TrialPrograms& programs, const Trial& trial, const State& state, int row) {
  std::vector<RecordArray> result;
  for (const ParameterDeclaration& declaration : programs.declarations().all()) {
    if (declaration.path.starts_with("optimizer/")) continue;
    const std::vector<double> values = state.read(row, *state.find(declaration.path));
    RecordArray array{weight_name(declaration.path), declaration.shape.sizes(), {}, declaration.axes};
    if (trial.experiment.precision == Precision::f64) {
      array.values = values;
    } else {
      array.values = to_f32(values);
    }
    result.push_back(std::move(array));
  }
  return result;
}

std::vector<RecordArray> evaluate_arrays(const std::vector<std::pair<std::string, Evaluation>>& evaluations) {
  std::vector<RecordArray> result;
  for (const auto& [name, evaluation] : evaluations) {
    if (evaluation.accuracy_by_position.empty()) continue;
    const auto length = static_cast<std::int64_t>(evaluation.accuracy_by_position.size());
    result.push_back({name + "/accuracy_by_position", {length}, evaluation.accuracy_by_position, {"position"}});
    result.push_back({name + "/loss_by_position", {length}, evaluation.loss_by_position, {"position"}});
  }
  return result;
}

std::vector<RecordAnalysis> analysis_records(const std::vector<std::pair<std::string, AnalysisResult>>& analyses) {
  std::vector<RecordAnalysis> result;
  for (const auto& [name, analysis] : analyses) {
    RecordAnalysis record{name, {}, analysis.numbers, analysis.skipped};
    for (const AnalysisArray& array : analysis.arrays) {
      RecordArray& written =
          record.arrays.emplace_back(RecordArray{array.name, array.shape.sizes(), array.values, array.axes});
      if (!array.texts.empty()) written.values = array.texts;
    }
    result.push_back(std::move(record));
  }
  return result;
}

}  // namespace

RunRecord make_record(const TrialPrograms& programs, const Trial& trial, const State& state, int row,
                      const std::vector<JournalRecord>& journal, const TrialResult& result,
                      const Provenance& provenance) {
  RunRecord record;
  RunAttributes& attributes = record.attributes;
  attributes.experiment = trial.experiment.experiment;
  attributes.trial = trial.hash;
  attributes.label = trial.label;
  attributes.index = trial.index;
  attributes.seed = trial.seed();
  attributes.status = result.status;
  attributes.message = result.message;
  attributes.jari_version = version();
  attributes.git = provenance.git;
  attributes.created = utc_now();
  attributes.device = provenance.device;
  attributes.threads = result.threads;
  record.spec_resolved = to_yaml(trial.resolved);
  record.spec_source = provenance.spec_source;
  record.spec_overrides = provenance.spec_overrides;
  record.metrics = metric_series(journal);
  record.evaluate = evaluate_arrays(result.evaluations);
  if (trial.experiment.keep.weights != Keep::none) record.weights = weights(programs, trial, state, row);
  record.digests.assign(result.digests.begin(), result.digests.end());
  record.analyses = analysis_records(result.analyses);
  if (programs.corpus() != nullptr) {
    record.vocabulary_tokens = programs.corpus()->vocabulary.pieces();
    record.vocabulary_counts = programs.corpus()->vocabulary.counts();
    record.tokenizer_model = programs.corpus()->model;
  }
  record.environment = provenance.environment;
  for (const auto& [phase, seconds] : result.seconds)
    record.environment_numbers.emplace_back("seconds_" + phase, seconds);
  record.environment_numbers.emplace_back("peak_memory_bytes", peak_memory_bytes());
  record.environment_numbers.emplace_back("trained_parameters", static_cast<double>(programs.trained_parameters()));
  return record;
}

const RecordArray* find_weights(const RunRecord& run, const std::string& parameter_path) {
  const std::string name = weight_name(parameter_path);
  const auto found = std::find_if(run.weights.begin(), run.weights.end(),
                                  [&](const RecordArray& array) { return array.name == name; });
  return found == run.weights.end() ? nullptr : &*found;
}

bool restore_weights(const RunRecord& run, const std::string& parameter_path, State& state, int row) {
  const RecordArray* stored = find_weights(run, parameter_path);
  if (stored == nullptr) return false;
  const State::Entry& entry = *state.find(parameter_path);
  std::vector<double> numbers;
  const auto read = [&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    if constexpr (std::is_arithmetic_v<T>) numbers.assign(values.begin(), values.end());
  };
  std::visit(read, stored->values);
  if (stored->shape != entry.type.shape.sizes() || numbers.size() != static_cast<std::size_t>(entry.type.shape.size()))
    throw StoreError(fmt::format("weights of {}: [{}] in the run file, expected {}", parameter_path,
                                 fmt::join(stored->shape, ", "), entry.type.to_string()));
  state.write(row, entry, numbers);
  return true;
}

double peak_memory_bytes() {
  // Where the kernel tells: getrusage counts what the parent had before it started this process.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace jari
