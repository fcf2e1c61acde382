// Pointwise ops of one operand.

#include <cmath>
#include <numbers>

#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

using Function = double (*)(double);
using Builder = Value (*)(Value);

OpCase unary(const char* name, Shape shape, double low, double high, Builder builder, Function function) {
  OpCase of;
  of.name = name;
  of.operands = {real(shape, low, high)};
  of.build = [builder](Graph&, const std::vector<Value>& x) { return std::vector<Value>{builder(x[0])}; };
  of.reference = [function](const Arrays& x) { return Arrays{map(x[0], function)}; };
  of.differentiable = shape.size() < 1000;
  return of;
}

// A small, a scalar, and a long operand; integers are refused.
OpCases real_function(const char* op, Builder builder, Function function, double low = -2, double high = 2) {
  OpCases all{
      {unary("a matrix", {3, 7}, low, high, builder, function), unary("a scalar", {}, low, high, builder, function),
       unary("several blocks", {70001}, low, high, builder, function)},
      {}};
  all.errors.push_back({"integers",
                        [builder](Graph& graph) {
                          builder(graph.input("ids", {DType::i32, {2, 3}}, false));
                        },
                        std::string(op) + ": takes f32 or f64, not i32[2, 3]"});
  return all;
}

OpCases signed_function(const char* op, Builder builder, Function function) {
  OpCases all = real_function(op, builder, function);
  all.errors = {{"booleans", [builder](Graph& graph) { builder(graph.constant_boolean({1}, {true})); },
                 std::string(op) + ": takes numbers, not boolean[1]: cast it"}};
  OpCase integers = unary("integers", {3, 7}, -9, 9, builder, function);
  integers.operands = {integer({3, 7}, -9, 9)};
  integers.differentiable = false;
  all.cases.push_back(integers);
  return all;
}

double gelu_of(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

double gelu_slope_of(double x) {
  const double scale = std::sqrt(2 / std::numbers::pi), t = std::tanh(scale * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * scale * (1 + 3 * 0.044715 * x * x);
}

OpCase cast_case(const char* name, Operand operand, DType through, Function function) {
  OpCase of;
  of.name = name;
  of.operands = {std::move(operand)};
  of.build = [through](Graph& graph, const std::vector<Value>& x) {
    return std::vector<Value>{cast(cast(x[0], through), graph.real())};
  };
  of.reference = [function](const Arrays& x) { return Arrays{map(x[0], function)}; };
  of.differentiable = false;
  return of;
}

}  // namespace

OpCases cases_negate() {
  return signed_function(
      "negate", [](Value x) { return -x; }, [](double x) { return -x; });
}
OpCases cases_abs() {
  return signed_function("abs", abs, [](double x) { return std::abs(x); });
}

OpCases cases_exp() {
  OpCases all = real_function("exp", exp, [](double x) { return std::exp(x); });
  all.cases.push_back(unary("large and small results", {1000}, -80, 10, exp, [](double x) { return std::exp(x); }));
  return all;
}

OpCases cases_log() {
  return real_function(
      "log", log, [](double x) { return std::log(x); }, 0.25, 4);
}
OpCases cases_sqrt() {
  return real_function(
      "sqrt", sqrt, [](double x) { return std::sqrt(x); }, 0.25, 4);
}
OpCases cases_sin() {
  return real_function(
      "sin", sin, [](double x) { return std::sin(x); }, -20, 20);
}
OpCases cases_cos() {
  return real_function(
      "cos", cos, [](double x) { return std::cos(x); }, -20, 20);
}

OpCases cases_tanh() {
  OpCases all = real_function("tanh", tanh, [](double x) { return std::tanh(x); });
  all.cases.push_back(unary("saturated", {1000}, -50, 50, tanh, [](double x) { return std::tanh(x); }));
  return all;
}

OpCases cases_sigmoid() {
  const Function function = [](double x) { return 1 / (1 + std::exp(-x)); };
  OpCases all = real_function("sigmoid", sigmoid, function);
  all.cases.push_back(unary("saturated", {1000}, -120, 120, sigmoid, function));
  return all;
}

OpCases cases_erf() {
  OpCases all = real_function("erf", erf, [](double x) { return std::erf(x); });
  all.cases.push_back(unary("exact gelu", {3, 7}, -3, 3, gelu_exact,
                            [](double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }));
  return all;
}

OpCases cases_gelu() {
  OpCases all = real_function("gelu", gelu, gelu_of, -4, 4);
  all.cases.push_back(unary("saturated", {1000}, -50, 50, gelu, gelu_of));
  return all;
}

OpCases cases_gelu_gradient() {
  OpCases all;
  for (const Shape& shape : {Shape{3, 7}, Shape{70001}}) {
    all.cases.push_back(
        {.name = "of shape " + shape.to_string(),
         .operands = {real(shape, -4, 4), real(shape)},
         .build = [](Graph& graph, const std::vector<Value>& x) { return graph.apply(op_gelu_gradient, x); },
         .reference =
             [](const Arrays& x) {
               return Arrays{map(x[0], x[1], [](double a, double dy) { return dy * gelu_slope_of(a); })};
             },
         .differentiable = shape.size() < 1000});
  }
  all.errors.push_back({"a gradient of another shape",
                        [](Graph& graph) {
                          graph.apply(op_gelu_gradient, {graph.parameter("x", {3}), graph.parameter("dy", {4})});
                        },
                        "gelu_gradient: x is f32[3], the gradient f32[4]"});
  return all;
}

OpCases cases_logical_not() {
  OpCases all;
  all.cases.push_back(
      {.name = "a matrix",
       .operands = {boolean({3, 7})},
       .build = [](Graph&, const std::vector<Value>& x) { return std::vector<Value>{logical_not(x[0])}; },
       .reference = [](const Arrays& x) { return Arrays{map(x[0], [](double a) { return 1 - a; })}; },
       .differentiable = false});
  all.errors.push_back({"numbers", [](Graph& graph) { logical_not(graph.parameter("a", {3})); },
                        "logical_not: the operand must be boolean, not f32[3]"});
  return all;
}

OpCases cases_all_reduce() {
  OpCases all = real_function("all_reduce", all_reduce, [](double x) { return x; });
  for (OpCase& each : all.cases) each.differentiable = false;
  return all;
}

OpCases cases_cast() {
  OpCases all{
      {cast_case("reals through integers", real({3, 7}, -9, 9), DType::i32, [](double x) { return std::trunc(x); }),
       cast_case("reals through booleans", real({3, 7}), DType::boolean, [](double x) { return double(x != 0); }),
       cast_case("integers", integer({3, 7}, -9, 9), DType::f64, [](double x) { return x; }),
       cast_case("integers through booleans", integer({40}, -2, 2), DType::boolean,
                 [](double x) { return double(x != 0); }),
       cast_case("booleans", boolean({3, 7}), DType::i32, [](double x) { return x; }),
       cast_case("out of range of integers", real({40}, -1e30, 1e30), DType::i32,
                 [](double x) { return x < 0 ? -2147483648.0 : 2147483647.0; })},
      {}};
  all.cases.back().tolerance_f64 = 1e-7;  // the nearest integer that f32 holds is 127 away
  all.cases.push_back({.name = "between precisions, with a gradient",
                       .operands = {real({3, 7})},
                       .build =
                           [](Graph& graph, const std::vector<Value>& x) {
                             return std::vector<Value>{cast(square(cast(x[0], DType::f64)), graph.real())};
                           },
                       .reference = [](const Arrays& x) { return Arrays{map(x[0], [](double a) { return a * a; })}; }});
  return all;
}

}  // namespace jari::test
