// Pointwise ops of two operands and more.

#include <algorithm>
#include <cmath>

#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

using Function = double (*)(double, double);
using Builder = Value (*)(Value, Value);

// The operand pairs that every broadcasting op is tried with. `low` and `high` bound both operands.
std::vector<OpCase> broadcasting(Builder builder, Function function, double low = -2, double high = 2,
                                 bool differentiable = true) {
  struct Pair {
    const char* name;
    Shape left, right;
  };
  const std::vector<Pair> pairs = {{"equal shapes", {3, 7}, {3, 7}},
                                   {"two scalars", {}, {}},
                                   {"a scalar on the right", {17, 5}, {}},
                                   {"a scalar on the left", {}, {2, 3, 5}},
                                   {"a row on the right", {17, 5}, {5}},
                                   {"a column on the left", {3, 1}, {3, 7}},
                                   {"a column and a row", {4, 1}, {1, 3}},
                                   {"an axis in the middle", {2, 1, 3}, {2, 5, 3}},
                                   {"axes by turns", {2, 1, 3, 1}, {1, 4, 1, 5}},
                                   {"one element of rank 3", {1, 1, 1}, {2, 3}},
                                   {"several blocks", {70001}, {70001}},
                                   {"several blocks of rows", {700, 101}, {101}},
                                   {"several blocks of columns", {700, 101}, {700, 1}}};
  std::vector<OpCase> cases;
  for (const Pair& pair : pairs) {
    OpCase of;
    of.name = pair.name;
    of.operands = {real(pair.left, low, high), real(pair.right, low, high)};
    of.build = [builder](Graph&, const std::vector<Value>& x) { return std::vector<Value>{builder(x[0], x[1])}; };
    of.reference = [=](const Arrays& x) {
      const Shape shape = broadcast_shape(pair.left, pair.right);
      Array out;
      for (std::int64_t i = 0; i < shape.size(); ++i)
        out.push_back(
            function(broadcast_element(x[0], pair.left, shape, i), broadcast_element(x[1], pair.right, shape, i)));
      return Arrays{out};
    };
    of.differentiable = differentiable && pair.left.size() * pair.right.size() < 2000;
    cases.push_back(of);
  }
  return cases;
}

// The op on integers.
OpCase integers(Builder builder, Function function) {
  OpCase of;
  of.name = "integers";
  of.operands = {integer({3, 7}, -9, 9), integer({7}, -9, 9)};
  of.build = [builder](Graph&, const std::vector<Value>& x) { return std::vector<Value>{builder(x[0], x[1])}; };
  of.reference = [=](const Arrays& x) {
    Array out;
    for (std::size_t i = 0; i < 21; ++i) out.push_back(function(x[0][i], x[1][i % 7]));
    return Arrays{out};
  };
  of.differentiable = false;
  return of;
}

ErrorCase shapes_error(const char* op, Builder builder) {
  return {"sizes that do not broadcast",
          [builder](Graph& graph) {
            const Graph::Scope scope(graph, "model");
            builder(graph.parameter("a", {2, 3}), graph.parameter("b", {4}));
          },
          std::string(op) + ": shapes do not broadcast: left [2, 3], right [4]\n  at model"};
}

ErrorCase dtypes_error(const char* op, Builder builder) {
  return {"mixed element types",
          [builder](Graph& graph) {
            builder(graph.parameter("a", {2, 3}), graph.input("b", {DType::i32, {3}}, false));
          },
          std::string(op) + ": element types differ: left f32[2, 3], right i32[3]: cast one of them"};
}

OpCases arithmetic(const char* op, Builder builder, Function function) {
  OpCases all{broadcasting(builder, function), {shapes_error(op, builder), dtypes_error(op, builder)}};
  all.cases.push_back(integers(builder, function));
  return all;
}

const double kNotANumber = std::nan("");

}  // namespace

OpCases cases_add() {
  OpCases all = arithmetic(
      "add", [](Value a, Value b) { return a + b; }, [](double a, double b) { return a + b; });
  all.cases.push_back(
      {.name = "a number on the right",
       .operands = {real({3, 7})},
       .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{x[0] + 0.75}; },
       .reference = [](const Arrays& x) { return Arrays{map(x[0], [](double a) { return a + 0.75; })}; }});
  all.cases.push_back({.name = "an operand twice",
                       .operands = {real({3, 7})},
                       .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{x[0] + x[0]}; },
                       .reference = [](const Arrays& x) { return Arrays{map(x[0], [](double a) { return 2 * a; })}; }});
  all.errors.push_back({"a fraction beside integers",
                        [](Graph& graph) {
                          graph.input("b", {DType::i32, {3}}, false) + 0.5;
                        },
                        "the number 0.5 beside i32[3]: cast the operand"});
  return all;
}

OpCases cases_subtract() {
  return arithmetic(
      "subtract", [](Value a, Value b) { return a - b; }, [](double a, double b) { return a - b; });
}

OpCases cases_multiply() {
  OpCases all = arithmetic(
      "multiply", [](Value a, Value b) { return a * b; }, [](double a, double b) { return a * b; });
  all.cases.push_back({.name = "a square",
                       .operands = {real({3, 7})},
                       .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{square(x[0])}; },
                       .reference = [](const Arrays& x) { return Arrays{map(x[0], [](double a) { return a * a; })}; }});
  return all;
}

OpCases cases_divide() {
  const Builder builder = [](Value a, Value b) { return a / b; };
  return {broadcasting(
              builder, [](double a, double b) { return a / b; }, 0.5, 2),
          {shapes_error("divide", builder),
           {"integers",
            [](Graph& graph) {
              const Value a = graph.input("a", {DType::i32, {3}}, false);
              a / a;
            },
            "divide: takes f32 or f64, not i32[3]"}}};
}

OpCases cases_maximum() {
  const Function function = [](double a, double b) { return std::max(a, b); };
  OpCases all = arithmetic("maximum", maximum, function);
  all.cases.push_back(
      {.name = "relu",
       .operands = {real({3, 7})},
       .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{relu(x[0])}; },
       .reference = [](const Arrays& x) { return Arrays{map(x[0], [](double a) { return a > 0 ? a : 0; })}; }});
  all.cases.push_back({.name = "not a number on either side",
                       .operands = {real({2})},
                       .build =
                           [](Graph& graph, const std::vector<Value>& x) {
                             const Value nan = graph.constant(kNotANumber);
                             return std::vector<Value>{maximum(x[0], nan), maximum(nan, x[0])};
                           },
                       .reference =
                           [](const Arrays&) {
                             return Arrays{{kNotANumber, kNotANumber}, {kNotANumber, kNotANumber}};
                           },
                       .differentiable = false});
  return all;
}

OpCases cases_minimum() {
  return arithmetic("minimum", minimum, [](double a, double b) { return std::min(a, b); });
}

OpCases cases_equal() {
  const Function function = [](double a, double b) { return double(a == b); };
  OpCases all{{}, {shapes_error("equal", equal), dtypes_error("equal", equal)}};
  all.cases.push_back(integers(equal, function));
  all.cases.push_back(
      {.name = "booleans",
       .operands = {boolean({3, 7}), boolean({3, 7})},
       .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{equal(x[0], x[1])}; },
       .reference = [=](const Arrays& x) { return Arrays{map(x[0], x[1], function)}; },
       .differentiable = false});
  all.cases.push_back(
      {.name = "reals",
       .operands = {real({3, 7})},
       .build =
           [](Graph&, const std::vector<Value>& x) {
             return std::vector<Value>{equal(x[0], maximum(x[0], scalar_like(x[0], 0)))};
           },
       .reference = [](const Arrays& x) { return Arrays{map(x[0], [](double a) { return double(a >= 0); })}; },
       .differentiable = false});
  return all;
}

OpCases cases_less() {
  const Function function = [](double a, double b) { return double(a < b); };
  OpCases all{broadcasting(less, function, -2, 2, false), {shapes_error("less", less), dtypes_error("less", less)}};
  all.cases.push_back(integers(less, function));
  return all;
}

OpCases cases_logical_and() {
  OpCases all;
  all.cases.push_back(
      {.name = "a row and a column",
       .operands = {boolean({5}), boolean({3, 1})},
       .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{logical_and(x[0], x[1])}; },
       .reference =
           [](const Arrays& x) {
             Array out;
             for (std::size_t i = 0; i < 15; ++i) out.push_back(x[0][i % 5] != 0 && x[1][i / 5] != 0);
             return Arrays{out};
           },
       .differentiable = false});
  all.errors.push_back({"numbers",
                        [](Graph& graph) { logical_and(graph.parameter("a", {3}), graph.parameter("a", {3})); },
                        "logical_and: the left operand must be boolean, not f32[3]"});
  return all;
}

OpCases cases_select() {
  OpCases all;
  struct Shapes {
    const char* name;
    Shape condition, if_true, if_false;
  };
  const std::vector<Shapes> shapes = {{"equal shapes", {3, 7}, {3, 7}, {3, 7}},
                                      {"a scalar condition", {}, {3, 7}, {3, 7}},
                                      {"a row condition and a scalar", {7}, {3, 7}, {}},
                                      {"three ways of broadcasting", {2, 1, 1}, {3, 1}, {5}},
                                      {"several blocks", {300, 251}, {300, 251}, {}}};
  for (const Shapes& s : shapes) {
    const auto reference = [s](const Arrays& x) {
      const Shape shape = broadcast_shape(s.condition, broadcast_shape(s.if_true, s.if_false));
      Array out;
      for (std::int64_t i = 0; i < shape.size(); ++i)
        out.push_back(broadcast_element(x[0], s.condition, shape, i) != 0
                          ? broadcast_element(x[1], s.if_true, shape, i)
                          : broadcast_element(x[2], s.if_false, shape, i));
      return Arrays{out};
    };
    all.cases.push_back(
        {.name = s.name,
         .operands = {boolean(s.condition), real(s.if_true), real(s.if_false)},
         .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{select(x[0], x[1], x[2])}; },
         .reference = reference,
         .differentiable = s.if_true.size() < 1000});
  }
  all.errors.push_back({"a condition that is a number",
                        [](Graph& graph) {
                          const Value a = graph.parameter("a", {3});
                          select(a, a, a);
                        },
                        "select: the condition must be boolean, not f32[3]"});
  all.errors.push_back({"a condition that does not broadcast",
                        [](Graph& graph) {
                          const Value a = graph.parameter("a", {3});
                          select(graph.constant_boolean({2}, {true, false}), a, a);
                        },
                        "select: shapes do not broadcast: condition [2], branches [3]"});
  return all;
}

}  // namespace jari::test
