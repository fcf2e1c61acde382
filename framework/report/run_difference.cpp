#include "framework/report/run_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/run_directory.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

using Texts = std::vector<std::pair<std::string, std::string>>;

// Those of either list that the other lacks or has otherwise, in the order of `a`, then of `b`.
std::vector<TextDifference> differing(const Texts& a, const Texts& b) {
  const auto value_in = [](const Texts& texts, const std::string& name) -> std::optional<std::string> {
    const auto found = std::ranges::find(texts, name, &Texts::value_type::first);
    if (found == texts.end()) return std::nullopt;
    return found->second;
  };
  std::vector<TextDifference> result;
  for (const auto& [name, value] : a)
    if (const auto other = value_in(b, name); other != value) result.push_back({name, value, other});
  for (const auto& [name, value] : b)
    if (!value_in(a, name)) result.push_back({name, std::nullopt, value});
  return result;
}

void add_leaves(const std::string& path, const SpecNode& node, Texts& leaves) {
  if (!node.is_mapping() || node.entries.empty()) {
    leaves.emplace_back(path, to_flow_yaml(node));
    return;
  }
  for (const SpecEntry& entry : node.entries)
    add_leaves(path.empty() ? entry.key : path + "." + entry.key, entry.value, leaves);
}

Texts leaves_of(const std::string& yaml) {
  Texts leaves;
  if (yaml.empty()) return leaves;
  Diagnostics diagnostics;
  const SpecNode spec = read_yaml_text(yaml, "/spec/resolved", diagnostics);
  diagnostics.throw_if_any();
  add_leaves("", spec, leaves);
  return leaves;
}

Texts environment_of(const RunRecord& run) {
  const RunAttributes& attributes = run.attributes;
  Texts texts = {{"status", attributes.status},
                 {"jari_version", attributes.jari_version},
                 {"git", attributes.git},
                 {"device", attributes.device},
                 {"threads", std::to_string(attributes.threads)}};
  texts.insert(texts.end(), run.environment.begin(), run.environment.end());
  return texts;
}

// What `get` finds in two lists, under the names of both: of `a`, then those that only `b` has.
template <class Result, class List, class Get>
std::vector<Result> side_by_side(const List& a, const List& b, const Get& get) {
  std::vector<Result> result;
  const auto find = [&](const List& list, const std::string& name) {
    return std::ranges::find_if(list, [&](const auto& each) { return get(each).first == name; });
  };
  for (const auto& each : a) {
    const auto [name, value] = get(each);
    const auto other = find(b, name);
    result.push_back({name, value, other == b.end() ? std::nullopt : std::optional(get(*other).second)});
  }
  for (const auto& each : b) {
    const auto [name, value] = get(each);
    if (find(a, name) == a.end()) result.push_back({name, std::nullopt, value});
  }
  return result;
}

std::vector<MetricSummary> summaries_of(const RunRecord& run) {
  std::vector<MetricSummary> summaries;
  for (const MetricSeries& series : run.metrics)
    if (!series.values.empty()) summaries.push_back(summarize(series));
  return summaries;
}

std::vector<std::pair<std::string, double>> numbers_of(const RunRecord& run) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const RecordAnalysis& analysis : run.analyses)
    for (const auto& [name, value] : analysis.numbers) numbers.emplace_back(analysis.name + "/" + name, value);
  return numbers;
}

// -- weights

std::vector<double> values_of(const RecordArray& array) {
  return std::visit(
      [](const auto& values) {
        std::vector<double> result;
        if constexpr (!std::is_same_v<std::decay_t<decltype(values)>, std::vector<std::string>>)
          result.assign(values.begin(), values.end());
        return result;
      },
      array.values);
}

WeightDifference::Distance distance_of(const std::vector<double>& a, const std::vector<double>& b) {
  WeightDifference::Distance distance;
  double squares = 0, of_a = 0, of_b = 0, product = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] - b[i];
    squares += difference * difference;
    of_a += a[i] * a[i];
    of_b += b[i] * b[i];
    product += a[i] * b[i];
    if (!(std::abs(difference) <= distance.largest)) distance.largest = std::abs(difference);
  }
  distance.euclidean = std::sqrt(squares);
  if (std::isnan(squares)) distance.largest = squares;
  if (of_a != 0) distance.relative = distance.euclidean / std::sqrt(of_a);
  if (of_a != 0 && of_b != 0) distance.cosine = product / (std::sqrt(of_a) * std::sqrt(of_b));
  return distance;
}

WeightDifference weight_difference(const std::string& path, const RecordArray* a, const RecordArray* b) {
  WeightDifference result{path, {}, {}, a != nullptr, b != nullptr, std::nullopt};
  if (a != nullptr) result.shape_a = a->shape;
  if (b != nullptr) result.shape_b = b->shape;
  if (a != nullptr && b != nullptr && a->shape == b->shape) result.distance = distance_of(values_of(*a), values_of(*b));
  return result;
}

std::vector<WeightDifference> weight_differences(const RunRecord& a, const RunRecord& b) {
  const auto find = [](const RunRecord& run, const std::string& path) {
    const auto found = std::ranges::find(run.weights, path, &RecordArray::name);
    return found == run.weights.end() ? nullptr : &*found;
  };
  std::vector<WeightDifference> result;
  for (const RecordArray& array : a.weights)
    result.push_back(weight_difference(array.name, &array, find(b, array.name)));
  for (const RecordArray& array : b.weights)
    if (find(a, array.name) == nullptr) result.push_back(weight_difference(array.name, nullptr, &array));
  return result;
}

// -- files

fs::path run_file_at(const fs::path& path) {
  if (!fs::exists(path)) throw StoreError(fmt::format("{}: there is no such file or folder", path.string()));
  if (!fs::is_directory(path)) return path;
  if (fs::exists(path / kRunFile)) return path / kRunFile;
  if (fs::exists(path / kJournalFile))
    throw StoreError(
        fmt::format("{}: this trial is not finished: it has no {}; 'jari run' its spec", path.string(), kRunFile));
  throw StoreError(
      fmt::format("{}: there is no {} in this folder; give the folder of one trial "
                  "(runs/<experiment>/<trial>), or a run file",
                  path.string(), kRunFile));
}

}  // namespace

RunDifference difference_of(const RunRecord& a, const RunRecord& b, bool with_weights) {
  RunDifference result;
  result.spec = differing(leaves_of(a.spec_resolved), leaves_of(b.spec_resolved));
  result.environment = differing(environment_of(a), environment_of(b));
  result.metrics = side_by_side<MetricDifference>(
      summaries_of(a), summaries_of(b), [](const MetricSummary& metric) { return std::pair(metric.name, metric); });
  result.numbers =
      side_by_side<NumberDifference>(numbers_of(a), numbers_of(b), [](const auto& number) { return number; });
  if (with_weights) result.weights = weight_differences(a, b);
  return result;
}

RunDifference difference_of(const fs::path& a, const fs::path& b, bool with_weights) {
  RunDifference result = difference_of(read_run_file(run_file_at(a)), read_run_file(run_file_at(b)), with_weights);
  result.name_a = a.string();
  result.name_b = b.string();
  return result;
}

}  // namespace jari
