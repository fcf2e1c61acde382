// Sums and maxima over axes.

#include <algorithm>
#include <limits>
#include <map>

#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

using Builder = Value (*)(Value, std::vector<int>, bool);
using Function = double (*)(double, double);

OpCase reducing(std::string name, Shape operand, std::vector<int> axes, bool keep, Builder builder, Function function,
                double empty) {
  OpCase of;
  of.name = std::move(name);
  of.operands = {real(operand)};
  of.build = [=](Graph&, const std::vector<Value>& x) { return std::vector<Value>{builder(x[0], axes, keep)}; };
  of.reference = [=](const Arrays& x) {
    Shape kept = operand;
    for (const int axis : axes) kept[axis] = 1;
    Array out(static_cast<std::size_t>(kept.size()), empty);
    for (std::int64_t i = 0; i < operand.size(); ++i) {
      std::vector<std::int64_t> index = index_of(operand, i);
      for (const int axis : axes) index[static_cast<std::size_t>(axis < 0 ? axis + operand.rank() : axis)] = 0;
      double& element = out[position_of(kept, index)];
      element = function(element, x[0][static_cast<std::size_t>(i)]);
    }
    return Arrays{out};
  };
  of.differentiable = operand.size() < 1000;
  of.tolerance_f64 = 1e-12;
  of.tolerance_f32 = operand.size() < 1000 ? 1e-6 : 1e-4;
  return of;
}

OpCases reductions(const std::string& op, Builder builder, Function function, double empty) {
  struct Reduction {
    const char* name;
    Shape operand;
    std::vector<int> axes;
    bool keep;
  };
  const std::vector<Reduction> reductions = {
      {"the last axis", {3, 7}, {-1}, false},        {"the last axis, kept", {17, 5}, {1}, true},
      {"the first axis", {17, 5}, {0}, false},       {"a middle axis", {2, 7, 3}, {1}, false},
      {"two axes apart", {2, 3, 5}, {0, 2}, false},  {"two axes apart, kept, in disorder", {2, 3, 5, 2}, {3, 1}, true},
      {"all axes", {2, 3, 5}, {0, 1, 2}, false},     {"an axis of size 1", {3, 1, 5}, {1}, false},
      {"a row of 37", {1, 37}, {1}, false},          {"several blocks of rows", {700, 101}, {1}, false},
      {"chunks of one row", {3, 40001}, {1}, false}, {"chunks of columns", {5120, 33}, {0}, false},
      {"strips of columns", {40, 9001}, {0}, false}, {"chunks apart", {300, 3, 90}, {0, 2}, false},
      {"all of several blocks", {70001}, {0}, false}};
  OpCases all;
  for (const Reduction& r : reductions)
    all.cases.push_back(reducing(r.name, r.operand, r.axes, r.keep, builder, function, empty));
  OpCase integers = reducing("integers", {17, 5}, {0}, false, builder, function, empty);
  integers.operands = {integer({17, 5}, -9, 9)};
  integers.differentiable = false;
  all.cases.push_back(integers);
  all.errors = {{"an axis that is not there",
                 [builder](Graph& graph) {
                   builder(graph.parameter("a", {2, 3}), {-3}, false);
                 },
                 op + ": axis -3 of [2, 3], which has 2 axes"},
                {"an axis twice",
                 [builder](Graph& graph) {
                   builder(graph.parameter("a", {2, 3}), {1, -1}, false);
                 },
                 op + ": axis 1 is named twice in [1, -1]"},
                {"booleans", [builder](Graph& graph) { builder(graph.constant_boolean({1}, {true}), {0}, false); },
                 op + ": takes numbers, not boolean[1]: cast it"}};
  return all;
}

}  // namespace

OpCases cases_reduce_sum() {
  OpCases all = reductions(
      "reduce_sum", reduce_sum, [](double a, double b) { return a + b; }, 0);
  all.cases.push_back({.name = "the mean of all",
                       .operands = {real({3, 7})},
                       .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{mean_all(x[0])}; },
                       .reference =
                           [](const Arrays& x) {
                             double sum = 0;
                             for (const double a : x[0]) sum += a;
                             return Arrays{{sum / 21}};
                           }});
  return all;
}

OpCases cases_reduce_max() {
  OpCases all = reductions(
      "reduce_max", reduce_max, [](double a, double b) { return std::max(a, b); },
      -std::numeric_limits<double>::infinity());
  all.cases.push_back(
      {.name = "minus infinity alone",
       .operands = {real({3, 7})},
       .build =
           [](Graph&, const std::vector<Value>& x) {
             const Value low = scalar_like(x[0], -std::numeric_limits<double>::infinity());
             return std::vector<Value>{reduce_max(select(equal(x[0], x[0]), low, x[0]), {1})};
           },
       .reference = [](const Arrays&) { return Arrays{Array(3, -std::numeric_limits<double>::infinity())}; },
       .differentiable = false});
  all.errors.push_back({"an empty axis",
                        [](Graph& graph) {
                          reduce_max(graph.parameter("a", {2, 0}), {1});
                        },
                        "reduce_max: axis 1 of [2, 0] is empty"});
  return all;
}

OpCases cases_argmax() {
  const auto case_of = [](std::string name, Operand operand) {
    const Shape shape = operand.shape;
    return OpCase{.name = std::move(name),
                  .operands = {std::move(operand)},
                  .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{argmax(x[0])}; },
                  .reference =
                      [shape](const Arrays& x) {
                        Array out;
                        for (auto row = x[0].begin(); row != x[0].end(); row += shape[-1])
                          out.push_back(double(std::max_element(row, row + shape[-1]) - row));
                        return Arrays{out};
                      },
                  .differentiable = false};
  };
  return {{case_of("rows", real({17, 5})), case_of("a vector", real({37})), case_of("rank 3", real({2, 3, 20})),
           case_of("integers with ties", integer({17, 40}, -3, 3)), case_of("several blocks", real({700, 101}))},
          {{"a scalar", [](Graph& graph) { argmax(graph.parameter("a", {})); },
            "argmax: f32[] has no element along the last axis"}}};
}

}  // namespace jari::test
