#pragma once
// `sweep:` of a spec: which trials there are. Values that may be anything stay trees; framework/sweep reads them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/spec/fields.hpp"
#include "framework/spec/spec_node.hpp"

namespace jari {

enum class Scale { linear, log };
inline const EnumNames<Scale>& enum_names(Scale) {
  static const EnumNames<Scale> names{{Scale::linear, "linear"}, {Scale::log, "log"}};
  return names;
}

// What a key is drawn from: a range of numbers, or a list of values.
struct DrawSpec {
  std::optional<double> from, to;
  Scale scale = Scale::linear;
  std::optional<std::int64_t> multiple_of;
  std::vector<SpecNode> values;

  template <class F>
  void fields(F& f) {
    f("from", from, "lower end; from and to both written as whole numbers give whole numbers");
    f("to", to, "upper end");
    f("scale", scale, "whether numbers or their logarithms are drawn evenly");
    f("multiple_of", multiple_of, "whole numbers: only its multiples", at_least(1));
    f("values", values, "instead of a range: values or whole blocks, each as likely as the others");
  }
  void check(FieldChecks& checks) const {
    const bool is_range = from || to;
    if (is_range && !values.empty()) return checks.error("values", "there is a range too", "give one of them");
    if (!values.empty()) {
      if (scale == Scale::log) checks.error("scale", "has no effect on a list of values", "remove it");
      if (multiple_of) checks.error("multiple_of", "has no effect on a list of values", "remove it");
      return;
    }
    if (!from || !to) {
      return checks.error("", is_range ? "a range has two ends" : "neither a range nor values",
                          "write {from: 1e-4, to: 1e-1, scale: log}, or {values: [sin, rope]}");
    }
    if (*from >= *to) checks.error("to", "must be more than `from`", "swap them");
    if (scale == Scale::log && *from <= 0) {
      checks.error("from", "must be more than 0 where scale is log", "numbers from 0 on have no even logarithms");
    }
  }
};

struct DrawsSpec {
  std::int64_t trials = 0;
  std::int64_t seed = 0;
  SpecMap<DrawSpec> space;

  template <class F>
  void fields(F& f) {
    f("trials", trials, "how many points of the space; more of them later keep the first ones", required,
      between(1, 100000));
    f("seed", seed, "another seed draws other points", at_least(0));
    f("space", space, "a key's path and what it is drawn from", required);
  }
};

struct WhenSpec {
  SpecMap<SpecNode> condition;
  SpecNode list, zip, grid;

  template <class F>
  void fields(F& f) {
    f("if", condition, "a key's path and its value, or a list of values of which it has one; all must hold", required);
    f("list", list, "as sweep.list, in the trials that fulfill the condition");
    f("zip", zip, "as sweep.zip, in those trials");
    f("grid", grid, "as sweep.grid, in those trials");
  }
};

enum class OnFailure { go_on, stop };
inline const EnumNames<OnFailure>& enum_names(OnFailure) {
  static const EnumNames<OnFailure> names{{OnFailure::go_on, "continue"}, {OnFailure::stop, "stop"}};
  return names;
}

struct SweepSpec {
  SpecNode list;
  SpecNode zip;
  SpecNode grid;
  std::optional<DrawsSpec> random;
  std::optional<DrawsSpec> sobol;
  std::vector<WhenSpec> when;
  std::vector<SpecMap<SpecNode>> exclude;
  SpecMap<SpecNode> baseline;
  OnFailure on_failure = OnFailure::go_on;
  std::int64_t retries = 0;

  template <class F>
  void fields(F& f) {
    f("list", list, "combinations one by one: mappings of keys' paths to values");
    f("zip", zip, "keys' paths with lists of one length, walked together; or a list of several such mappings");
    f("grid", grid, "axes: a key's path and the list of its values; all combinations are trials");
    f("random", random, "points of a space, drawn one by one");
    f("sobol", sobol, "points of a space that fill it evenly: a shifted Sobol sequence");
    f("when", when, "further axes, for the trials that fulfill a condition");
    f("exclude", exclude, "conditions on keys; a combination that fulfills all of one item is no trial");
    f("baseline", baseline, "values of the axes that the others are compared with");
    f("on_failure", on_failure, "when a trial fails or diverges: train the others, or save them and stop");
    f("retries", retries, "times that a failed trial is tried again, from its last checkpoint", between(0, 100));
  }
  void check(FieldChecks& checks) const {
    if (random && sobol) checks.error("sobol", "there is `random` too", "keep one of them");
  }
};

}  // namespace jari
