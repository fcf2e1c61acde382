#include <fmt/format.h>

#include <algorithm>

#include "framework/base/edit_distance.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/binder.hpp"
#include "framework/spec/compose.hpp"
#include "framework/spec/interpolate.hpp"
#include "framework/sweep/axis.hpp"
#include "framework/sweep/conditions.hpp"
#include "framework/sweep/draws.hpp"
#include "framework/sweep/inner_grid.hpp"
#include "framework/sweep/sweep.hpp"

namespace jari {
namespace {

// The keys of the file that say which trials there are.
struct SweepKeys {
  std::int64_t seed = 42;
  std::int64_t seeds = 1;
  std::optional<SweepSpec> sweep;

  template <class F>
  void fields(F& f) {
    f("seed", seed, "seed of the first trial", at_least(0));
    f("seeds", seeds, "trials with the seeds seed, seed+1, ...", between(1, 100000));
    f("sweep", sweep, "what varies from trial to trial");
  }
};

// Further axes of the trials that fulfill conditions.
struct When {
  Conditions conditions;
  std::vector<Axis> axes;
};

// A combination of the axes' values so far, before seeds.
struct Combination {
  SpecNode spec;
  VaryingKeys varying;
  Diagnostics problems;  // of references and paths
};

// "model.position" is set anew by whoever sets "model.position" or "model".
bool covers(const std::string& path, const std::string& earlier) {
  return earlier.starts_with(path) && (earlier.size() == path.size() || earlier[path.size()] == '.');
}

SpecNode interpolated(const SpecNode& spec) {
  SpecNode result = spec;
  Diagnostics ignored;  // told once all axes are set
  interpolate(result, ignored);
  return result;
}

class Expander {
 public:
  Expander(const SpecNode& spec, Diagnostics& diagnostics) : spec_(spec), diagnostics_(diagnostics) {}

  Expansion run() {
    read();
    SpecNode base = spec_;
    for (const char* key : {"sweep", "seeds", "seed"}) base.erase(key);
    refuse_grids(base, "", diagnostics_);
    combinations_ = {Combination{std::move(base), {}, {}}};
    if (!cross_all()) return std::move(result_);
    for (Combination& each : combinations_) interpolate(each.spec, each.problems);
    exclude();
    check_baseline();
    add_seeds();
    return std::move(result_);
  }

 private:
  void read() {
    SpecNode keys = SpecNode::mapping(spec_.span);
    for (const SpecEntry& entry : spec_.entries) {
      if (entry.key == "seed" || entry.key == "seeds" || entry.key == "sweep")
        keys.set(entry.key, entry.value, entry.key_span);
    }
    SpecNode resolved;
    Binder binder(nullptr, diagnostics_);
    binder.bind(keys, "", keys_, resolved);
    if (!keys_.sweep) return;
    const SweepSpec& sweep = *keys_.sweep;
    result_.on_failure = sweep.on_failure;
    result_.retries = sweep.retries;
    axes_ = read_axes(sweep.list, sweep.zip, sweep.grid, "sweep", diagnostics_);
    if (!diagnostics_.empty()) return;  // what follows would complain about what is missing now
    const SpecNode& node = *spec_.find("sweep");
    if (sweep.random) add(read_draws(*sweep.random, *node.find("random"), DrawMethod::random, diagnostics_));
    if (sweep.sobol) add(read_draws(*sweep.sobol, *node.find("sobol"), DrawMethod::sobol, diagnostics_));
    for (std::size_t i = 0; i < sweep.when.size(); ++i) read_when(sweep.when[i], node.find("when")->items[i]);
    for (std::size_t i = 0; i < sweep.exclude.size(); ++i) {
      exclude_.push_back(read_conditions(node.find("exclude")->items[i], "sweep.exclude", diagnostics_));
    }
    if (node.find("baseline")) baseline_ = read_conditions(*node.find("baseline"), "sweep.baseline", diagnostics_);
  }

  void add(std::vector<Axis> axes) { std::ranges::move(axes, std::back_inserter(axes_)); }

  void read_when(const WhenSpec& spec, const SpecNode& node) {
    When when{read_conditions(*node.find("if"), "sweep.when.if", diagnostics_),
              read_axes(spec.list, spec.zip, spec.grid, "sweep.when", diagnostics_)};
    if (spec.list.is_null() && spec.zip.is_null() && spec.grid.is_null()) {
      diagnostics_.error(
          node.span, "sweep.when", "has a condition and no axis",
          "write for example {if: {model.position: alibi}, grid: {model.position.slope_scale: [0.5, 1]}}");
    }
    when_.push_back(std::move(when));
  }

  // An override of what an axis sets would be lost without a word.
  void refuse_lost_overrides(const SpecNode& node, const std::string& path, const std::string& axis) {
    if (node.span.file && node.span.file->name.starts_with("override #")) {
      diagnostics_.error(node.span, path, fmt::format("has no effect: the sweep sets '{}'", axis),
                         "change the axis in the spec, or override a key that it does not set");
      return;
    }
    for (const SpecEntry& entry : node.entries) refuse_lost_overrides(entry.value, path + "." + entry.key, axis);
  }

  void note_paths(const Axis& axis) {
    for (const std::string& path : axis.paths) {
      if (const SpecNode* node = spec_.find_path(path)) refuse_lost_overrides(*node, path, path);
      if (std::ranges::find(result_.axes, path) == result_.axes.end()) result_.axes.push_back(path);
    }
  }

  // Whether the trials are not too many.
  bool check_count(std::size_t combinations, const Axis& axis) {
    const auto seeds = static_cast<std::size_t>(keys_.seeds);
    if (combinations > kMostTrials / seeds) {
      diagnostics_.error(axis.span, "sweep", fmt::format("more than {} trials", kMostTrials), "split the sweep");
      return false;
    }
    if (combinations > kMostValues / count_values(spec_) / seeds) {
      diagnostics_.error(axis.span, "sweep",
                         fmt::format("too many trials for a spec of {} values", count_values(spec_)),
                         "split the sweep");
      return false;
    }
    return true;
  }

  bool cross_all() {
    std::size_t count = 1;
    for (const Axis& axis : axes_) {
      note_paths(axis);
      count *= axis.choices.size();
      if (!check_count(count, axis)) return false;
    }
    combinations_ = crossed(std::move(combinations_.front()), axes_);
    if (!diagnostics_.empty()) return true;
    return std::ranges::all_of(when_, [this](const When& when) { return apply(when); });
  }

  bool apply(const When& when) {
    std::vector<Combination> all;
    std::vector<SpecNode> trees;
    bool any = false;
    for (Combination& each : combinations_) {
      SpecNode tree = interpolated(each.spec);
      if (fulfills(tree, when.conditions)) {
        any = true;
        std::ranges::move(crossed(std::move(each), when.axes), std::back_inserter(all));
      } else {
        all.push_back(std::move(each));
      }
      trees.push_back(std::move(tree));
      if (!when.axes.empty() && !check_count(all.size(), when.axes.front())) return false;
    }
    refuse_unfulfilled(when.conditions, pointers(trees), "sweep.when.if", diagnostics_);
    if (any) std::ranges::for_each(when.axes, [this](const Axis& axis) { note_paths(axis); });
    combinations_ = std::move(all);
    return true;
  }

  // All combinations of the axes' choices, the last axis fastest.
  std::vector<Combination> crossed(Combination base, const std::vector<Axis>& axes) {
    std::vector<Combination> all;
    all.push_back(std::move(base));
    for (const Axis& axis : axes) {
      std::vector<Combination> next;
      for (const Combination& each : all) {
        for (const AxisChoice& choice : axis.choices) set(next.emplace_back(each), choice, axis);
      }
      all = std::move(next);
    }
    return all;
  }

  void set(Combination& combination, const AxisChoice& choice, const Axis& axis) {
    for (const AxisSetting& setting : choice.settings) {
      for (const auto& [earlier, value] : combination.varying) {
        if (!covers(setting.path, earlier)) continue;
        diagnostics_.error(setting.span, axis.place,
                           fmt::format("'{}' replaces what another axis sets: '{}'", setting.path, earlier),
                           "axes apply in the order list, zip, grid, random or sobol, when; the last would win");
      }
      set_path(combination.spec, setting.path, setting.value, setting.span, combination.problems);
      combination.varying.emplace_back(setting.path, setting.label);
    }
  }

  static std::vector<const SpecNode*> pointers(const std::vector<SpecNode>& trees) {
    std::vector<const SpecNode*> result;
    for (const SpecNode& tree : trees) result.push_back(&tree);
    return result;
  }
  std::vector<const SpecNode*> trees() const {
    std::vector<const SpecNode*> result;
    for (const Combination& each : combinations_) result.push_back(&each.spec);
    return result;
  }

  void exclude() {
    for (const Conditions& conditions : exclude_) {
      refuse_unfulfilled(conditions, trees(), "sweep.exclude", diagnostics_);
    }
    if (exclude_.empty() || !diagnostics_.empty()) return;
    const std::size_t before = combinations_.size();
    std::erase_if(combinations_, [this](const Combination& each) {
      return std::ranges::any_of(exclude_,
                                 [&](const Conditions& conditions) { return fulfills(each.spec, conditions); });
    });
    result_.excluded = (before - combinations_.size()) * static_cast<std::size_t>(keys_.seeds);
    if (combinations_.empty()) {
      diagnostics_.error(spec_.find_path("sweep.exclude")->span, "sweep.exclude",
                         fmt::format("drops all {} combinations", before), "drop fewer");
    }
  }

  void check_baseline() {
    if (!diagnostics_.empty()) return;
    for (const Condition& condition : baseline_) {
      const auto is_near = [&](const std::string& axis) {
        return covers(axis, condition.path) || covers(condition.path, axis);
      };
      if (std::ranges::any_of(result_.axes, is_near)) continue;
      const auto near = closest(condition.path, result_.axes);
      diagnostics_.error(condition.span, "sweep.baseline", fmt::format("'{}' is no axis of this sweep", condition.path),
                         near ? fmt::format("did you mean '{}'?", *near) : "axes: " + joined(result_.axes));
      return;
    }
    refuse_unfulfilled(baseline_, trees(), "sweep.baseline", diagnostics_);
  }

  void add_seeds() {
    const SpecNode* seed_node = spec_.find("seed");
    const std::size_t total = combinations_.size() * static_cast<std::size_t>(keys_.seeds);
    for (const Combination& each : combinations_) {
      for (std::int64_t seed = keys_.seed; seed < keys_.seed + keys_.seeds; ++seed) {
        diagnostics_.add_trial(each.problems, result_.cells.size(), total);
        Expansion::Cell& trial = result_.cells.emplace_back(Expansion::Cell{each.spec, each.varying});
        const SourceSpan span = seed_node ? seed_node->span : SourceSpan{};
        trial.spec.set("seed", SpecNode::scalar(std::to_string(seed), false, span));
        trial.varying.emplace_back("seed", std::to_string(seed));
      }
    }
  }

  const SpecNode& spec_;
  Diagnostics& diagnostics_;
  SweepKeys keys_;
  std::vector<Axis> axes_;
  std::vector<When> when_;
  std::vector<Conditions> exclude_;
  Conditions baseline_;
  std::vector<Combination> combinations_;
  Expansion result_;
};

}  // namespace

Expansion expand(const SpecNode& spec, Diagnostics& diagnostics) { return Expander(spec, diagnostics).run(); }

}  // namespace jari
