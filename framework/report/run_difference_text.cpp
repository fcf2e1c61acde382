// How the difference of two runs is shown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "framework/base/table.hpp"
#include "framework/report/run_difference.hpp"

namespace jari {
namespace {

std::string shown(const std::optional<std::string>& text) { return text.value_or("-"); }

std::string shown(const std::optional<double>& number) { return number ? fmt::format("{:.6g}", *number) : "-"; }

std::string section(const std::string& title, const std::string& text) {
  return fmt::format("\n{}\n\n{}", title, text);
}

std::string texts_section(const std::string& title, const char* first, const std::vector<TextDifference>& differences) {
  if (differences.empty()) return fmt::format("\n{}: equal\n", title);
  TextTable table({{first}, {"a"}, {"b"}});
  for (const TextDifference& each : differences) table.add_row({each.name, shown(each.a), shown(each.b)});
  return section(title, table.text());
}

std::string change(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? fmt::format("{:+.4g}", *b - *a) : "-";
}

std::string metrics_section(const std::vector<MetricDifference>& metrics) {
  if (metrics.empty()) return "\nmetrics: none\n";
  TextTable table({{"metric"},
                   {"last a", Align::right},
                   {"last b", Align::right},
                   {"b - a", Align::right},
                   {"best a", Align::right},
                   {"best b", Align::right},
                   {"b - a", Align::right}});
  const auto last = [](const std::optional<MetricSummary>& metric) {
    return metric ? std::optional(metric->last) : std::nullopt;
  };
  const auto best = [](const std::optional<MetricSummary>& metric) {
    return metric ? std::optional(metric->best) : std::nullopt;
  };
  const auto best_at = [](const std::optional<MetricSummary>& metric) {
    return metric ? fmt::format("{:.6g} at {}", metric->best, metric->best_step) : std::string("-");
  };
  for (const MetricDifference& each : metrics)
    table.add_row({each.name, shown(last(each.a)), shown(last(each.b)), change(last(each.a), last(each.b)),
                   best_at(each.a), best_at(each.b), change(best(each.a), best(each.b))});
  return section("metrics (best: at its step)", table.text());
}

std::string numbers_section(const std::vector<NumberDifference>& numbers) {
  if (numbers.empty()) return "";
  TextTable table({{"analysis"}, {"a", Align::right}, {"b", Align::right}, {"b - a", Align::right}});
  for (const NumberDifference& each : numbers)
    table.add_row({each.name, shown(each.a), shown(each.b), change(each.a, each.b)});
  return section("analyses", table.text());
}

std::string shown_shape(bool is_there, const std::vector<std::int64_t>& shape) {
  return is_there ? fmt::format("[{}]", fmt::join(shape, ", ")) : "absent";
}

std::string weights_section(const std::vector<WeightDifference>& weights) {
  if (weights.empty()) return "\nweights: none\n";
  TextTable table({{"parameter"},
                   {"shape"},
                   {"|a - b|", Align::right},
                   {"relative", Align::right},
                   {"cosine", Align::right},
                   {"largest", Align::right}});
  for (const WeightDifference& each : weights) {
    if (!each.distance) {
      table.add_row({each.path, shown_shape(each.in_a, each.shape_a) + " and " + shown_shape(each.in_b, each.shape_b),
                     "-", "-", "-", "-"});
      continue;
    }
    const WeightDifference::Distance& distance = *each.distance;
    table.add_row({each.path, shown_shape(true, each.shape_a), fmt::format("{:.4g}", distance.euclidean),
                   distance.relative ? fmt::format("{:.4g}", *distance.relative) : "-",
                   distance.cosine ? fmt::format("{:.6f}", *distance.cosine) : "-",
                   fmt::format("{:.4g}", distance.largest)});
  }
  return section("weights (relative: |a - b| / |a|; largest: of one number)", table.text());
}

}  // namespace

std::string difference_text(const RunDifference& difference) {
  std::string text = fmt::format("a: {}\nb: {}\n", difference.name_a, difference.name_b);
  text += texts_section("spec", "key", difference.spec);
  text += metrics_section(difference.metrics);
  text += numbers_section(difference.numbers);
  text += texts_section("environment", "what", difference.environment);
  if (difference.weights) text += weights_section(*difference.weights);
  return text;
}

}  // namespace jari
