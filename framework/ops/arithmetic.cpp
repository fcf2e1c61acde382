// Pointwise ops of two operands and more, with NumPy's broadcasting.

#include <cmath>

#include "framework/base/error.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/rewrite.hpp"

namespace jari {

namespace {

void require_number(const char* op, const TensorType& type) {
  if (type.dtype == DType::boolean)
    throw ShapeError(fmt::format("{}: takes numbers, not {}: cast it", op, type.to_string()));
}

// The number in `x * 2.0`, as an element of x's type.
Value number_beside(Value x, double number) {
  const bool fits = is_real(x.dtype()) || (x.dtype() == DType::i32 && number == std::floor(number));
  if (!fits) x.graph().fail(fmt::format("the number {} beside {}: cast the operand", number, x.type().to_string()));
  return scalar_like(x, number);
}

Types infer_arithmetic(const char* op, const Types& inputs) {
  require_same_dtype(op, inputs[0], inputs[1]);
  require_number(op, inputs[0]);
  return {{inputs[0].dtype, require_broadcast(op, inputs[0], inputs[1])}};
}

Types infer_comparison(const char* op, const Types& inputs) {
  require_same_dtype(op, inputs[0], inputs[1]);
  return {{DType::boolean, require_broadcast(op, inputs[0], inputs[1])}};
}

// Gradients of both operands from functions that give them in the broadcast shape, each made only if wanted.
template <class Left, class Right>
Values pair_gradients(const GradientContext& context, const Left& left, const Right& right) {
  Values results(2);
  if (context.wanted[0]) results[0] = reduce_to(left(), context.inputs[0].shape());
  if (context.wanted[1]) results[1] = reduce_to(right(), context.inputs[1].shape());
  return results;
}

// Gradient of maximum and minimum, where `right_wins` says which operand was taken; on ties that is the left one.
Values choice_gradients(const GradientContext& context, Value right_wins) {
  const Value dy = context.output_gradients[0], zero = scalar_like(dy, 0);
  return pair_gradients(
      context, [&] { return select(right_wins, zero, dy); }, [&] { return select(right_wins, dy, zero); });
}

Values add_gradient(const GradientContext& context) {
  const auto dy = [&] { return context.output_gradients[0]; };
  return pair_gradients(context, dy, dy);
}

Values subtract_gradient(const GradientContext& context) {
  const Value dy = context.output_gradients[0];
  return pair_gradients(
      context, [&] { return dy; }, [&] { return -dy; });
}

Values multiply_gradient(const GradientContext& context) {
  const Value dy = context.output_gradients[0];
  return pair_gradients(
      context, [&] { return dy * context.inputs[1]; }, [&] { return dy * context.inputs[0]; });
}

Values divide_gradient(const GradientContext& context) {
  const Value dy = context.output_gradients[0], divisor = context.inputs[1];
  return pair_gradients(
      context, [&] { return dy / divisor; }, [&] { return -(dy * context.outputs[0] / divisor); });
}

Types infer_select(const Types& inputs, const Attributes&) {
  require_dtype("select", "the condition", inputs[0], DType::boolean);
  require_same_dtype("select", inputs[1], inputs[2]);
  const TensorType branches = {inputs[1].dtype, require_broadcast("select", inputs[1], inputs[2])};
  Shape shape;
  if (!broadcast(inputs[0].shape, branches.shape, shape))
    throw ShapeError(fmt::format("select: shapes do not broadcast: condition {}, branches {}",
                                 inputs[0].shape.to_string(), branches.shape.to_string()));
  return {{branches.dtype, shape}};
}

Values select_gradient(const GradientContext& context) {
  const Value condition = context.inputs[0], dy = context.output_gradients[0], zero = scalar_like(dy, 0);
  Values results(3);
  if (context.wanted[1]) results[1] = reduce_to(select(condition, dy, zero), context.inputs[1].shape());
  if (context.wanted[2]) results[2] = reduce_to(select(condition, zero, dy), context.inputs[2].shape());
  return results;
}

}  // namespace

const Op op_add = {.name = "add",
                   .infer = [](const Types& inputs, const Attributes&) { return infer_arithmetic("add", inputs); },
                   .gradient = add_gradient,
                   .pointwise = true};

const Op op_subtract = {
    .name = "subtract",
    .infer = [](const Types& inputs, const Attributes&) { return infer_arithmetic("subtract", inputs); },
    .gradient = subtract_gradient,
    .pointwise = true};

const Op op_multiply = {
    .name = "multiply",
    .infer = [](const Types& inputs, const Attributes&) { return infer_arithmetic("multiply", inputs); },
    .gradient = multiply_gradient,
    .pointwise = true};

const Op op_divide = {.name = "divide",
                      .infer =
                          [](const Types& inputs, const Attributes&) {
                            require_real("divide", inputs[0]);
                            return infer_arithmetic("divide", inputs);
                          },
                      .gradient = divide_gradient,
                      .pointwise = true};

const Op op_maximum = {
    .name = "maximum",
    .infer = [](const Types& inputs, const Attributes&) { return infer_arithmetic("maximum", inputs); },
    .gradient = [](const GradientContext& c) { return choice_gradients(c, less(c.inputs[0], c.inputs[1])); },
    .pointwise = true};

const Op op_minimum = {
    .name = "minimum",
    .infer = [](const Types& inputs, const Attributes&) { return infer_arithmetic("minimum", inputs); },
    .gradient = [](const GradientContext& c) { return choice_gradients(c, less(c.inputs[1], c.inputs[0])); },
    .pointwise = true};

const Op op_equal = {.name = "equal",
                     .infer = [](const Types& inputs, const Attributes&) { return infer_comparison("equal", inputs); },
                     .pointwise = true};

const Op op_less = {.name = "less",
                    .infer =
                        [](const Types& inputs, const Attributes&) {
                          require_number("less", inputs[0]);
                          return infer_comparison("less", inputs);
                        },
                    .pointwise = true};

const Op op_logical_and = {.name = "logical_and",
                           .infer =
                               [](const Types& inputs, const Attributes&) {
                                 require_dtype("logical_and", "the left operand", inputs[0], DType::boolean);
                                 require_dtype("logical_and", "the right operand", inputs[1], DType::boolean);
                                 return infer_comparison("logical_and", inputs);
                               },
                           .pointwise = true};

const Op op_select = {.name = "select", .infer = infer_select, .gradient = select_gradient, .pointwise = true};

Value operator+(Value left, Value right) {
  if (const Value cheaper = rewrite_sum(left, right)) return cheaper;
  return left.graph().apply_one(op_add, {left, right});
}
Value operator-(Value left, Value right) { return left.graph().apply_one(op_subtract, {left, right}); }
Value operator*(Value left, Value right) { return left.graph().apply_one(op_multiply, {left, right}); }
Value operator/(Value left, Value right) { return left.graph().apply_one(op_divide, {left, right}); }
Value operator+(Value left, double right) { return left + number_beside(left, right); }
Value operator-(Value left, double right) { return left - number_beside(left, right); }
Value operator*(Value left, double right) { return left * number_beside(left, right); }
Value operator*(double left, Value right) { return number_beside(right, left) * right; }
Value operator/(Value left, double right) { return left / number_beside(left, right); }
Value maximum(Value left, Value right) { return left.graph().apply_one(op_maximum, {left, right}); }
Value minimum(Value left, Value right) { return left.graph().apply_one(op_minimum, {left, right}); }
Value equal(Value left, Value right) { return left.graph().apply_one(op_equal, {left, right}); }
Value less(Value left, Value right) { return left.graph().apply_one(op_less, {left, right}); }
Value logical_and(Value left, Value right) { return left.graph().apply_one(op_logical_and, {left, right}); }

Value select(Value condition, Value if_true, Value if_false) {
  return condition.graph().apply_one(op_select, {condition, if_true, if_false});
}

}  // namespace jari
