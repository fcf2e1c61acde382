#pragma once
// One OpCase: a way to use an op, its sizes and a naive reference. tests/ops/op_suite.cpp runs every case of every op
// through the same checks: values in f64 and f32, gradients by finite differences, equal bits at any thread count and
// fused or alone, the body of a composite op, and the texts of shape errors.
//
// Each line of ops.def needs `OpCases cases_<op>()` in some tests/ops/cases_*.cpp: a missing one is a link error.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "framework/graph/graph.hpp"
#include "framework/ops/ops.hpp"
#include "tests/support/device_under_test.hpp"

namespace jari::test {

// An operand of the case, drawn uniformly from [low, high): real ones are parameters of the graph (so f64 or f32, per
// trial, and differentiated), integers and booleans are shared inputs.
struct Operand {
  enum Kind { real, integer, boolean };
  Kind kind = real;
  Shape shape;
  double low = -1, high = 1;
};

inline Operand real(Shape shape, double low = -1, double high = 1) {
  return {Operand::real, std::move(shape), low, high};
}
inline Operand integer(Shape shape, double low, double high) { return {Operand::integer, std::move(shape), low, high}; }
inline Operand boolean(Shape shape) { return {Operand::boolean, std::move(shape), 0, 2}; }

using Array = std::vector<double>;  // row-major
using Arrays = std::vector<Array>;

// What the suite feeds to the inputs "random/seed" and "random/step" if a graph has them.
inline constexpr std::int32_t kSeedLow = 1234567, kSeedHigh = 89;
inline constexpr std::int32_t kStep = 7;

struct OpCase {
  std::string name;  // "a row added to a matrix"
  std::vector<Operand> operands = {};
  std::function<std::vector<Value>(Graph&, const std::vector<Value>& operands)> build;
  // The outputs from the operands, written plainly. Empty: only the other checks are made.
  std::function<Arrays(const Arrays& operands)> reference = nullptr;
  // |found - expected| <= tolerance (1 + |expected|)
  double tolerance_f32 = 1e-6;
  double tolerance_f64 = 1e-13;
  double tolerance_gradient = 1e-6;  // of central differences with step 1e-5
  bool differentiable = true;        // false for cases that are large, or flat, or have no real operand
};

// A wrong use and the whole text of its ShapeError.
struct ErrorCase {
  std::string name;
  std::function<void(Graph&)> build;
  std::string message;
};

struct OpCases {
  std::vector<OpCase> cases;
  std::vector<ErrorCase> errors;
};

#define JARI_OP(name) OpCases cases_##name();
#include "framework/ops/ops.def"
#undef JARI_OP

}  // namespace jari::test
