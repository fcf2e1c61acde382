// Comparisons for programs: CSV and JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "framework/report/compare_view.hpp"

namespace jari {
namespace {

using Json = nlohmann::ordered_json;

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
  std::string result = "\"";
  for (const char c : field) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

template <class T>
std::string number(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string bounds(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{},{}", interval->low, interval->high) : ",";
}

std::string test_fields(const Comparison& comparison, const std::optional<BaselineComparison>& against) {
  if (!against) return ",,,,,,,,";
  const std::optional<SignFlipTest>& test = against->test;
  return fmt::format("{},{},{},{},{},{},{},{}", quoted(comparison.baseline), against->seeds, against->difference.mean,
                     bounds(against->difference.interval), test ? fmt::format("{}", test->p) : "",
                     test ? fmt::format("{}", against->p_holm) : "", test ? verdict_name(against->verdict) : "",
                     number(against->needed_seeds));
}

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json(nullptr);
}

Json against_json(const BaselineComparison& against) {
  Json json;
  json["seeds"] = against.seeds;
  json["difference"] = against.difference.mean;
  json["sd"] = optional_json(against.difference.standard_deviation);
  json["interval"] = interval_json(against.difference.interval);
  if (!against.test) return json;
  json["p"] = against.test->p;
  json["exact"] = against.test->exact;
  json["p_holm"] = against.p_holm;
  json["verdict"] = verdict_name(against.verdict);
  json["fewest_seeds"] = against.fewest_seeds;
  json["needed_seeds"] = optional_json(against.needed_seeds);
  return json;
}

Json metric_json(const ComparedMetric& metric, const CellMetric& value) {
  const Statistics& statistics = value.statistics;
  Json json;
  json["n"] = statistics.count;
  json["mean"] = statistics.mean;
  json["sd"] = optional_json(statistics.standard_deviation);
  json["interval"] = interval_json(statistics.interval);
  json["interval_kind"] = metric.success ? "wilson" : "student_t";
  json["min"] = statistics.minimum;
  json["max"] = statistics.maximum;
  if (value.bootstrap) json["bootstrap_interval"] = interval_json(value.bootstrap);
  json["seeds"] = value.seeds;
  json["values"] = value.values;
  if (value.against_baseline) json["against_baseline"] = against_json(*value.against_baseline);
  return json;
}

}  // namespace

std::string comparison_csv(const Comparison& comparison) {
  std::string text;
  for (const std::string& path : comparison.columns) text += quoted(path) + ",";
  text +=
      "metric,n,mean,sd,ci_low,ci_high,min,max,bootstrap_low,bootstrap_high,baseline,pairs,difference,difference_low,"
      "difference_high,p,p_holm,verdict,pairs_needed\n";
  for (const ComparisonCell& cell : comparison.cells) {
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
      if (!cell.metrics[m]) continue;
      const CellMetric& value = *cell.metrics[m];
      const Statistics& statistics = value.statistics;
      for (const std::string& key : cell.keys) text += quoted(key) + ",";
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", quoted(comparison.metrics[m].name()), statistics.count,
                          statistics.mean, number(statistics.standard_deviation), bounds(statistics.interval),
                          statistics.minimum, statistics.maximum, bounds(value.bootstrap),
                          test_fields(comparison, value.against_baseline));
    }
  }
  return text;
}

std::string comparison_json(const Comparison& comparison) {
  Json json;
  json["columns"] = comparison.columns;
  json["value"] = comparison.value == MetricValue::best ? "best" : "last";
  json["confidence"] = kConfidence;
  json["baseline"] = comparison.baseline.empty() ? Json(nullptr) : Json(comparison.baseline);
  json["significance"] = kSignificance;
  json["cells"] = Json::array();
  for (const ComparisonCell& cell : comparison.cells) {
    Json keys = Json::object(), metrics = Json::object();
    for (std::size_t i = 0; i < cell.keys.size(); ++i) keys[comparison.columns[i]] = cell.keys[i];
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m)
      if (cell.metrics[m]) metrics[comparison.metrics[m].name()] = metric_json(comparison.metrics[m], *cell.metrics[m]);
    json["cells"].push_back({{"keys", keys}, {"is_baseline", cell.is_baseline}, {"metrics", metrics}});
  }
  json["remarks"] = Json::array();
  for (const auto& [metric, remark] : comparison.remarks)
    json["remarks"].push_back({{"metric", metric}, {"remark", remark}});
  json["notes"] = comparison.notes;
  // Numbers that JSON lacks (NaN, infinity) become null.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace jari
