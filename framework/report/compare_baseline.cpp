#include "framework/report/compare_baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/report/compare_remarks.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/sweep/sweep_folder.hpp"

namespace jari {
namespace {

// -- what the baseline is

struct BaselineKey {
  std::string path;  // "model.position" or "model.position.type"
  SpecNode value;
};
using BaselineKeys = std::vector<BaselineKey>;

std::string text_of(const BaselineKey& key) {
  return key.path + "=" + (key.value.is_scalar() ? key.value.text : to_flow_yaml(key.value));
}

std::string text_of(const BaselineKeys& keys) {
  std::vector<std::string> texts;
  for (const BaselineKey& key : keys) texts.push_back(text_of(key));
  return joined(texts);
}

BaselineKeys parse_wanted(const std::vector<std::string>& wanted) {
  BaselineKeys keys;
  for (const std::string& text : wanted) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw SpecError(
          fmt::format("--baseline: expected KEY=VALUE, found '{}'; for example model.position=learned", text));
    Diagnostics diagnostics;
    const auto file = std::make_shared<const SourceFile>(SourceFile{"--baseline", {text}});
    SpecNode value = read_yaml_value(file, equals + 1, diagnostics);
    diagnostics.throw_if_any();
    keys.push_back({text.substr(0, equals), std::move(value)});
  }
  return keys;
}

// `{model: {position: learned}}` and `{model.position: learned}` say the same; a block with a type is a value.
void add_keys(const std::string& path, const SpecNode& node, BaselineKeys& keys) {
  if (!node.is_mapping() || node.find("type") != nullptr) {
    keys.push_back({path, node});
    return;
  }
  for (const SpecEntry& entry : node.entries)
    add_keys(path.empty() ? entry.key : path + "." + entry.key, entry.value, keys);
}

BaselineKeys keys_of_sweep(const std::filesystem::path& folder) {
  BaselineKeys keys;
  const std::optional<SpecNode> spec = read_sweep_spec(folder);
  const SpecNode* baseline = spec ? spec->find_path("sweep.baseline") : nullptr;
  if (baseline != nullptr && baseline->is_mapping()) add_keys("", *baseline, keys);
  return keys;
}

// -- which runs are of it

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

bool holds(const SpecNode* node, const SpecNode& wanted) {
  if (node == nullptr) return false;
  if (wanted.is_scalar() && node->is_mapping()) node = node->find("type");
  if (node == nullptr) return false;
  if (wanted.is_scalar() && node->is_scalar()) {
    const auto number = number_of(wanted.text);
    return node->text == wanted.text || (number && number == number_of(node->text));
  }
  if (wanted.is_mapping() && node->is_mapping())
    return std::ranges::all_of(wanted.entries,
                               [&](const SpecEntry& entry) { return holds(node->find(entry.key), entry.value); });
  return same_value(*node, wanted);
}

bool is_part(const std::string& inner, const std::string& outer) {
  return inner == outer || inner.starts_with(outer + ".");
}

class Baseline {
 public:
  Baseline(const std::vector<CollectedRun>& runs, const std::vector<std::string>& wanted)
      : wanted_(parse_wanted(wanted)) {
    for (const CollectedRun& run : runs) {
      const BaselineKeys& keys = keys_of(run);
      for (const BaselineKey& key : keys) paths_.insert(key.path);
      if (!keys.empty()) texts_.insert(text_of(keys));
    }
  }

  bool is_wanted() const { return !wanted_.empty(); }
  bool empty() const { return texts_.empty(); }
  std::string text() const { return texts_.size() == 1 ? *texts_.begin() : "the baseline of each sweep"; }
  const BaselineKeys& wanted() const { return wanted_; }

  // Whether it says what this column holds.
  bool sets(const std::string& column) const {
    return std::ranges::any_of(paths_,
                               [&](const std::string& path) { return is_part(column, path) || is_part(path, column); });
  }

  bool has(const RunCell& cell, const std::vector<std::string>& columns) {
    return std::ranges::all_of(cell.runs, [&](const CollectedRun* run) {
      const BaselineKeys& keys = keys_of(*run);
      return !keys.empty() &&
             std::ranges::all_of(keys, [&](const BaselineKey& key) { return has(*run, key, cell, columns); });
    });
  }

  bool has(const CollectedRun& run, const BaselineKey& key, const RunCell& cell,
           const std::vector<std::string>& columns) const {
    if (holds(run.spec->find_path(key.path), key.value)) return true;
    const auto column = std::ranges::find(columns, key.path);  // as the table shows it
    return column != columns.end() && key.value.is_scalar() &&
           cell.keys[static_cast<std::size_t>(column - columns.begin())] == key.value.text;
  }

 private:
  const BaselineKeys& keys_of(const CollectedRun& run) {
    if (is_wanted()) return wanted_;
    const std::filesystem::path folder = (run.summary.path.parent_path() / "..").lexically_normal();
    auto found = of_folder_.find(folder);
    if (found == of_folder_.end()) found = of_folder_.emplace(folder, keys_of_sweep(folder)).first;
    return found->second;
  }

  BaselineKeys wanted_;
  std::map<std::filesystem::path, BaselineKeys> of_folder_;
  std::set<std::string> paths_, texts_;
};

[[noreturn]] void fail_no_cell(const Baseline& baseline, const std::vector<CollectedRun>& runs,
                               const std::vector<RunCell>& cells, const Comparison& comparison) {
  for (const BaselineKey& key : baseline.wanted()) {
    const bool is_there = std::ranges::any_of(cells, [&](const RunCell& cell) {
      return std::ranges::any_of(cell.runs,
                                 [&](const auto* run) { return baseline.has(*run, key, cell, comparison.columns); });
    });
    if (is_there) continue;
    const std::vector<std::string> values = key_columns(runs, {key.path}, "--baseline").front().values;
    const std::set<std::string> distinct(values.begin(), values.end());
    const std::vector<std::string> candidates(distinct.begin(), distinct.end());
    const std::string value = key.value.is_scalar() ? key.value.text : to_flow_yaml(key.value);
    fail_unknown_name(fmt::format("--baseline: no run has the {}", key.path), value, candidates,
                      "values: " + joined(candidates));
  }
  throw SpecError(
      fmt::format("--baseline: no cell of the table has {} and nothing else; columns: {}; leave --by out, or "
                  "name the baseline's key there too",
                  baseline.text(), joined(comparison.columns)));
}

// -- which cells are compared

struct Partners {
  std::vector<std::size_t> of_baseline;             // cells
  std::vector<std::optional<std::size_t>> partner;  // of each cell that is compared
  std::string ambiguous;                            // cells that the baseline does not tell apart
};

Partners find_partners(const std::vector<RunCell>& cells, Baseline& baseline, const Comparison& comparison) {
  const auto other_keys = [&](const RunCell& cell) {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < cell.keys.size(); ++i)
      if (!baseline.sets(comparison.columns[i])) keys.push_back(cell.keys[i]);
    return keys;
  };
  const auto experiment = [&](const RunCell& cell) {
    return baseline.sets("experiment") ? "" : cell.runs.front()->summary.attributes.experiment;
  };
  Partners partners{{}, std::vector<std::optional<std::size_t>>(cells.size()), ""};
  std::map<std::vector<std::string>, std::size_t> by_keys;
  std::map<std::string, std::vector<std::size_t>> by_experiment;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!baseline.has(cells[i], comparison.columns)) continue;
    partners.of_baseline.push_back(i);
    by_experiment[experiment(cells[i])].push_back(i);
    const auto [other, is_first] = by_keys.emplace(other_keys(cells[i]), i);
    if (!is_first && partners.ambiguous.empty())
      partners.ambiguous = fmt::format("{}; {}", cell_name(comparison, comparison.cells[other->second]),
                                       cell_name(comparison, comparison.cells[i]));
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (std::ranges::binary_search(partners.of_baseline, i)) continue;
    const auto same = by_keys.find(other_keys(cells[i]));
    const std::vector<std::size_t>& of_experiment = by_experiment[experiment(cells[i])];
    if (same != by_keys.end())
      partners.partner[i] = same->second;
    else if (of_experiment.size() == 1)
      partners.partner[i] = of_experiment.front();
  }
  return partners;
}

// -- pairs

// Runs of one seed: a cell's, and the baseline's that agrees with it in all but the baseline's keys.
using SeedPairs = std::vector<std::pair<const CollectedRun*, const CollectedRun*>>;

class Pairing {
 public:
  // Pooled keys: those that vary, but are neither shown nor set by the baseline.
  Pairing(const std::vector<CollectedRun>& runs, const Baseline& baseline, const std::vector<std::string>& shown) {
    std::vector<std::string> keys(runs.size());
    for (const KeyColumn& column : key_columns(runs, {})) {
      if (baseline.sets(column.path) || std::ranges::find(shown, column.path) != shown.end()) continue;
      for (std::size_t i = 0; i < runs.size(); ++i) keys[i] += column.values[i] + '\n';
    }
    for (std::size_t i = 0; i < runs.size(); ++i) pooled_.emplace(&runs[i], std::move(keys[i]));
  }

  std::vector<SeedPairs> pairs(const RunCell& cell, const RunCell& partner) const {
    std::multimap<std::pair<std::uint64_t, std::string>, const CollectedRun*> of_partner;
    for (const CollectedRun* run : partner.runs) of_partner.emplace(key_of(*run), run);
    std::map<std::uint64_t, SeedPairs> by_seed;
    for (const CollectedRun* run : cell.runs) {
      const auto [begin, end] = of_partner.equal_range(key_of(*run));
      for (auto each = begin; each != end; ++each)
        by_seed[run->summary.attributes.seed].emplace_back(run, each->second);
    }
    std::vector<SeedPairs> result;
    for (auto& [seed, pairs_of_seed] : by_seed) result.push_back(std::move(pairs_of_seed));
    return result;
  }

 private:
  std::pair<std::uint64_t, std::string> key_of(const CollectedRun& run) const {
    return {run.summary.attributes.seed, pooled_.at(&run)};
  }

  std::map<const CollectedRun*, std::string> pooled_;
};

std::vector<double> differences(const std::vector<SeedPairs>& pairs, const ComparedMetric& metric, MetricValue which) {
  std::vector<double> result;
  for (const SeedPairs& of_seed : pairs) {
    double sum = 0;
    int count = 0;
    for (const auto& [run, partner] : of_seed) {
      const std::optional<double> value = run->summary.find(metric.path, which),
                                  other = partner->summary.find(metric.path, which);
      if (!value || !other) continue;
      sum += metric.counted(*value) - metric.counted(*other);
      ++count;
    }
    if (count > 0) result.push_back(sum / count);
  }
  return result;
}

// -- tests

struct PendingTest {
  std::size_t metric;
  std::vector<double> differences;
  BaselineComparison* result;
};

void test(const PendingTest& pending, std::int64_t comparisons) {
  BaselineComparison& result = *pending.result;
  result.fewest_seeds = fewest_pairs(comparisons);
  result.test = sign_flip_test(pending.differences, std::max(kLeastSignFlips, 100 * comparisons));
  if (!result.difference.standard_deviation) return;
  const double effect = result.difference.mean / *result.difference.standard_deviation;
  const auto for_power = pairs_for_power(effect, kSignificance / static_cast<double>(comparisons));
  if (!for_power) return;
  // The t test that the guess is made with may be content with the seeds that the sign-flip test was not content with.
  const std::int64_t needed = std::max(*for_power, result.fewest_seeds);
  if (needed > result.seeds) result.needed_seeds = needed;
}

void judge(const std::vector<BaselineComparison*>& of_metric) {
  std::vector<double> p_values;
  for (const BaselineComparison* each : of_metric) p_values.push_back(each->test->p);
  const std::vector<double> adjusted = holm(p_values);
  for (std::size_t i = 0; i < of_metric.size(); ++i) {
    BaselineComparison& each = *of_metric[i];
    each.p_holm = adjusted[i];
    each.verdict = each.p_holm <= kSignificance     ? Verdict::differs
                   : each.seeds < each.fewest_seeds ? Verdict::too_few_seeds
                                                    : Verdict::no_difference_seen;
  }
}

void run_tests(const std::vector<PendingTest>& tests, std::size_t metrics, ThreadPool& pool) {
  std::vector<std::vector<BaselineComparison*>> of_metric(metrics);
  for (const PendingTest& pending : tests) of_metric[pending.metric].push_back(pending.result);
  pool.for_each(static_cast<std::int64_t>(tests.size()), [&](std::int64_t i, int) {
    const PendingTest& pending = tests[static_cast<std::size_t>(i)];
    test(pending, static_cast<std::int64_t>(of_metric[pending.metric].size()));
  });
  for (const auto& results : of_metric) judge(results);
}

std::size_t count_seeds(const RunCell& cell) {
  std::set<std::uint64_t> seeds;
  for (const CollectedRun* run : cell.runs) seeds.insert(run->summary.attributes.seed);
  return seeds.size();
}

}  // namespace

void compare_with_baseline(const std::vector<CollectedRun>& runs, const std::vector<RunCell>& cells,
                           const std::vector<std::string>& wanted, ThreadPool& pool, Comparison& comparison) {
  Baseline baseline(runs, wanted);
  if (baseline.empty()) return;
  const Partners partners = find_partners(cells, baseline, comparison);
  if (partners.of_baseline.empty() && baseline.is_wanted()) fail_no_cell(baseline, runs, cells, comparison);
  if (!partners.ambiguous.empty() && baseline.is_wanted())
    throw SpecError(fmt::format("--baseline: {} does not tell these apart: {}; name more of their keys",
                                baseline.text(), partners.ambiguous));
  if (partners.of_baseline.empty() || !partners.ambiguous.empty()) {
    comparison.notes.push_back(fmt::format(
        "the sweep's baseline, {}, {}: nothing is tested; --baseline KEY=VALUE names another", baseline.text(),
        partners.of_baseline.empty() ? "is no cell of the table" : "is several cells of the table"));
    return;
  }
  comparison.baseline = baseline.text();
  for (const std::size_t cell : partners.of_baseline) comparison.cells[cell].is_baseline = true;

  const Pairing pairing(runs, baseline, comparison.columns);
  std::vector<PendingTest> tests;
  std::size_t with_other_seeds = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (!partners.partner[c]) continue;
    const RunCell& partner = cells[*partners.partner[c]];
    const std::vector<SeedPairs> pairs = pairing.pairs(cells[c], partner);
    with_other_seeds += pairs.size() < std::max(count_seeds(cells[c]), count_seeds(partner)) ? 1 : 0;
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
      std::vector<double> of_seeds = differences(pairs, comparison.metrics[m], comparison.value);
      if (of_seeds.empty()) continue;
      BaselineComparison& result = comparison.cells[c].metrics[m]->against_baseline.emplace();
      result.seeds = static_cast<std::int64_t>(of_seeds.size());
      result.difference = summarize(of_seeds);
      if (std::isfinite(result.difference.mean)) tests.push_back({m, std::move(of_seeds), &result});
    }
  }
  run_tests(tests, comparison.metrics.size(), pool);
  if (with_other_seeds > 0)
    comparison.notes.push_back(
        fmt::format("{} of {} cells and the baseline have not all seeds in common; only those that both have are "
                    "compared",
                    with_other_seeds, cells.size() - partners.of_baseline.size()));
}

}  // namespace jari
