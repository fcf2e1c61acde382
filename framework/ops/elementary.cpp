// Pointwise ops of one operand.

#include <cmath>
#include <numbers>

#include "framework/base/error.hpp"
#include "framework/ops/attributes.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/differentiate.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

namespace {

Types infer_real(const char* op, const Types& inputs) {
  require_real(op, inputs[0]);
  return {inputs[0]};
}

Types infer_signed(const char* op, const Types& inputs) {
  if (inputs[0].dtype == DType::boolean)
    throw ShapeError(fmt::format("{}: takes numbers, not {}: cast it", op, inputs[0].to_string()));
  return {inputs[0]};
}

Values abs_gradient(const GradientContext& context) {
  const Value x = context.inputs[0], dy = context.output_gradients[0], zero = scalar_like(x, 0);
  return {select(less(zero, x), dy, select(less(x, zero), -dy, zero))};
}

Values erf_gradient(const GradientContext& context) {
  const Value slope = exp(-square(context.inputs[0])) * (2 * std::numbers::inv_sqrtpi);
  return {context.output_gradients[0] * slope};
}

const double kGeluScale = std::sqrt(2 / std::numbers::pi);
constexpr double kGeluCubic = 0.044715;

Value gelu_argument(Value x) { return (x + x * square(x) * kGeluCubic) * kGeluScale; }

Values gelu_body(Graph&, const Values& inputs, const Attributes&) {
  const Value x = inputs[0];
  return {x * 0.5 * (tanh(gelu_argument(x)) + 1)};
}

Values gelu_gradient_rule(const GradientContext& context) {
  const Value x = context.inputs[0];
  return {context.graph.apply_one(op_gelu_gradient, {x, context.output_gradients[0]})};
}

Types infer_gelu_gradient(const Types& inputs, const Attributes&) {
  require_real("gelu_gradient", inputs[0]);
  if (inputs[0] != inputs[1])
    throw ShapeError(
        fmt::format("gelu_gradient: x is {}, the gradient {}", inputs[0].to_string(), inputs[1].to_string()));
  return {inputs[0]};
}

Values gelu_gradient_body(Graph&, const Values& inputs, const Attributes&) {
  const Value x = inputs[0], dy = inputs[1];
  const Value t = tanh(gelu_argument(x));
  const Value argument_slope = (square(x) * (3 * kGeluCubic) + 1) * kGeluScale;
  return {dy * ((t + 1) * 0.5 + x * 0.5 * (scalar_like(x, 1) - square(t)) * argument_slope)};
}

Types infer_cast(const Types& inputs, const Attributes& attributes) {
  return {{attributes.as<CastAttributes>().dtype, inputs[0].shape}};
}

Values cast_gradient(const GradientContext& context) {
  return {cast(context.output_gradients[0], context.inputs[0].dtype())};
}

}  // namespace

const Op op_logical_not = {.name = "logical_not",
                           .infer =
                               [](const Types& inputs, const Attributes&) {
                                 require_dtype("logical_not", "the operand", inputs[0], DType::boolean);
                                 return inputs;
                               },
                           .pointwise = true};

const Op op_negate = {.name = "negate",
                      .infer = [](const Types& inputs, const Attributes&) { return infer_signed("negate", inputs); },
                      .gradient = [](const GradientContext& c) { return Values{-c.output_gradients[0]}; },
                      .pointwise = true};

const Op op_abs = {.name = "abs",
                   .infer = [](const Types& inputs, const Attributes&) { return infer_signed("abs", inputs); },
                   .gradient = abs_gradient,
                   .pointwise = true};

const Op op_exp = {.name = "exp",
                   .infer = [](const Types& inputs, const Attributes&) { return infer_real("exp", inputs); },
                   .gradient = [](const GradientContext& c) { return Values{c.output_gradients[0] * c.outputs[0]}; },
                   .pointwise = true};

const Op op_log = {.name = "log",
                   .infer = [](const Types& inputs, const Attributes&) { return infer_real("log", inputs); },
                   .gradient = [](const GradientContext& c) { return Values{c.output_gradients[0] / c.inputs[0]}; },
                   .pointwise = true};

const Op op_sqrt = {
    .name = "sqrt",
    .infer = [](const Types& inputs, const Attributes&) { return infer_real("sqrt", inputs); },
    .gradient = [](const GradientContext& c) { return Values{c.output_gradients[0] * 0.5 / c.outputs[0]}; },
    .pointwise = true};

const Op op_sin = {
    .name = "sin",
    .infer = [](const Types& inputs, const Attributes&) { return infer_real("sin", inputs); },
    .gradient = [](const GradientContext& c) { return Values{c.output_gradients[0] * cos(c.inputs[0])}; },
    .pointwise = true};

const Op op_cos = {
    .name = "cos",
    .infer = [](const Types& inputs, const Attributes&) { return infer_real("cos", inputs); },
    .gradient = [](const GradientContext& c) { return Values{-(c.output_gradients[0] * sin(c.inputs[0]))}; },
    .pointwise = true};

const Op op_tanh = {.name = "tanh",
                    .infer = [](const Types& inputs, const Attributes&) { return infer_real("tanh", inputs); },
                    .gradient =
                        [](const GradientContext& c) {
                          const Value y = c.outputs[0];
                          return Values{c.output_gradients[0] * (scalar_like(y, 1) - square(y))};
                        },
                    .pointwise = true};

const Op op_sigmoid = {.name = "sigmoid",
                       .infer = [](const Types& inputs, const Attributes&) { return infer_real("sigmoid", inputs); },
                       .gradient =
                           [](const GradientContext& c) {
                             const Value y = c.outputs[0];
                             return Values{c.output_gradients[0] * (y * (scalar_like(y, 1) - y))};
                           },
                       .pointwise = true};

const Op op_erf = {.name = "erf",
                   .infer = [](const Types& inputs, const Attributes&) { return infer_real("erf", inputs); },
                   .gradient = erf_gradient,
                   .pointwise = true};

const Op op_gelu = {.name = "gelu",
                    .infer = [](const Types& inputs, const Attributes&) { return infer_real("gelu", inputs); },
                    .gradient = gelu_gradient_rule,
                    .body = gelu_body,
                    .pointwise = true};

const Op op_gelu_gradient = {
    .name = "gelu_gradient", .infer = infer_gelu_gradient, .body = gelu_gradient_body, .pointwise = true};

// Not differentiable: it is applied to gradients.
const Op op_all_reduce = {
    .name = "all_reduce",
    .infer = [](const Types& inputs, const Attributes&) { return infer_real("all_reduce", inputs); },
    .pointwise = true};

const Op op_cast = {.name = "cast", .infer = infer_cast, .gradient = cast_gradient, .pointwise = true};

Value operator-(Value x) { return x.graph().apply_one(op_negate, {x}); }
Value logical_not(Value x) { return x.graph().apply_one(op_logical_not, {x}); }
Value exp(Value x) { return x.graph().apply_one(op_exp, {x}); }
Value log(Value x) { return x.graph().apply_one(op_log, {x}); }
Value sqrt(Value x) { return x.graph().apply_one(op_sqrt, {x}); }
Value sin(Value x) { return x.graph().apply_one(op_sin, {x}); }
Value cos(Value x) { return x.graph().apply_one(op_cos, {x}); }
Value tanh(Value x) { return x.graph().apply_one(op_tanh, {x}); }
Value sigmoid(Value x) { return x.graph().apply_one(op_sigmoid, {x}); }
Value abs(Value x) { return x.graph().apply_one(op_abs, {x}); }
Value erf(Value x) { return x.graph().apply_one(op_erf, {x}); }
Value square(Value x) { return x * x; }
Value relu(Value x) { return maximum(scalar_like(x, 0), x); }  // zero on the left: at 0 the gradient goes there
Value gelu(Value x) { return x.graph().apply_one(op_gelu, {x}); }
Value gelu_exact(Value x) { return x * 0.5 * (erf(x * (1 / std::numbers::sqrt2)) + 1); }

Value all_reduce(Value x) { return x.graph().apply_one(op_all_reduce, {x}); }

Value cast(Value x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.graph().apply_one(op_cast, {x}, CastAttributes{dtype});
}

}  // namespace jari
