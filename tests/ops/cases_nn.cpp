// Matrix products, softmax, layer normalization, cross-entropy.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/ops/gelu_mlp.hpp"
#include "framework/ops/matmul.hpp"
#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

using Build = std::function<std::vector<Value>(Graph&, const std::vector<Value>&)>;

Build of_one(Value (*function)(Value)) {
  return [function](Graph&, const std::vector<Value>& x) { return std::vector<Value>{function(x[0])}; };
}

// Applies `row` to each row of `width` elements.
Array by_row(const Array& x, std::int64_t width, const std::function<Array(const Array&)>& row) {
  Array out;
  for (auto begin = x.begin(); begin != x.end(); begin += width) {
    const Array result = row(Array(begin, begin + width));
    out.insert(out.end(), result.begin(), result.end());
  }
  return out;
}

double sum(const Array& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

Array softmax_row(const Array& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  Array out = map(x, [&](double a) { return std::exp(a - largest); });
  const double total = sum(out);
  for (double& a : out) a /= total;
  return out;
}

Array log_softmax_row(const Array& x) {
  return map(softmax_row(x), [](double a) { return std::log(a); });
}

// -- matmul

struct MatmulShapes {
  const char* name;
  Shape left, right;
  bool transpose_left = false, transpose_right = false;
};

Array matmul_reference(const Array& left, const Array& right, const MatmulShapes& shapes) {
  const auto leading = [](const Shape& shape) { return shape.first(shape.rank() - 2); };
  const Shape batch = broadcast_shape(leading(shapes.left), leading(shapes.right));
  const std::int64_t m = shapes.left[shapes.transpose_left ? -1 : -2], k = shapes.left[shapes.transpose_left ? -2 : -1];
  const std::int64_t n = shapes.right[shapes.transpose_right ? -2 : -1];
  Array out;
  // The index of each operand's matrix in the batch, by broadcasting an array of such indices.
  const auto matrices = [&](const Shape& shape) {
    Array indices(static_cast<std::size_t>(leading(shape).size()));
    std::iota(indices.begin(), indices.end(), 0.0);
    return indices;
  };
  const Array left_matrices = matrices(shapes.left), right_matrices = matrices(shapes.right);
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto at_left =
        static_cast<std::int64_t>(broadcast_element(left_matrices, leading(shapes.left), batch, b)) * m * k;
    const auto at_right =
        static_cast<std::int64_t>(broadcast_element(right_matrices, leading(shapes.right), batch, b)) * k * n;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double dot = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          dot += left[static_cast<std::size_t>(at_left + (shapes.transpose_left ? p * m + i : i * k + p))] *
                 right[static_cast<std::size_t>(at_right + (shapes.transpose_right ? j * k + p : p * n + j))];
        }
        out.push_back(dot);
      }
    }
  }
  return out;
}

OpCase matmul_case(const MatmulShapes& shapes) {
  const std::int64_t inner = shapes.left[shapes.transpose_left ? -2 : -1];
  return {.name = shapes.name,
          .operands = {real(shapes.left), real(shapes.right)},
          .build =
              [shapes](Graph&, const std::vector<Value>& x) {
                return std::vector<Value>{matmul(x[0], x[1], shapes.transpose_left, shapes.transpose_right)};
              },
          .reference = [shapes](const Arrays& x) { return Arrays{matmul_reference(x[0], x[1], shapes)}; },
          .tolerance_f32 = 1e-6 * std::sqrt(static_cast<double>(inner)),
          .tolerance_f64 = 1e-12,
          .differentiable = shapes.left.size() + shapes.right.size() < 400};
}

// With a bias and an addend of the result's shape.
OpCase matmul_sum_case(const MatmulShapes& shapes) {
  OpCase result = matmul_case(shapes);
  const std::int64_t n = shapes.right[shapes.transpose_right ? -2 : -1];
  Shape sum = shapes.left;
  sum[-1] = n;
  result.name += ", with a bias and an addend";
  result.operands.push_back(real({n}));
  result.operands.push_back(real(sum));
  result.build = [shapes](Graph& graph, const std::vector<Value>& x) {
    const MatmulAttributes attributes{shapes.transpose_left, shapes.transpose_right, true, true};
    return graph.apply(op_matmul, x, attributes);
  };
  result.reference = [shapes, n](const Arrays& x) {
    Array out = matmul_reference(x[0], x[1], shapes);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += x[2][i % static_cast<std::size_t>(n)] + x[3][i];
    return Arrays{out};
  };
  return result;
}

// -- softmax and its kin

std::vector<OpCase> row_cases(Value (*function)(Value), Array (*row)(const Array&)) {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape{5}, Shape{3, 1}, Shape{2, 3, 16}, Shape{3, 37}, Shape{900, 50}}) {
    cases.push_back({.name = shape.to_string(),
                     .operands = {real(shape, -9, 9)},
                     .build = of_one(function),
                     .reference = [=](const Arrays& x) { return Arrays{by_row(x[0], shape[-1], row)}; },
                     .tolerance_f32 = 2e-6,
                     .differentiable = shape.size() < 1000});
  }
  return cases;
}

// Large and small logits, some of them -infinity; the last row all.
OpCase masked_rows(Value (*function)(Value), double where_all_are_masked) {
  const double infinity = std::numeric_limits<double>::infinity();
  return {
      .name = "masked rows",
      .operands = {real({2, 3}, -9, 9)},
      .build =
          [=](Graph& graph, const std::vector<Value>& x) {
            const Value mask =
                graph.constant({3, 3}, {500, 501, -infinity, -500, -infinity, -502, -infinity, -infinity, -infinity});
            return std::vector<Value>{function(concat({x[0], slice(x[0], 0, 0, 1)}, 0) + mask)};
          },
      .reference =
          [=](const Arrays& x) {
            Array out;
            const bool logarithm = where_all_are_masked != 0;
            for (const auto& [begin, first, second, shift] : {std::tuple{0, 0, 1, 1.0}, std::tuple{3, 0, 2, -2.0}}) {
              const double a = x[0][static_cast<std::size_t>(begin + first)],
                           b = x[0][static_cast<std::size_t>(begin + second)] + shift;
              const Array pair = logarithm ? log_softmax_row({a, b}) : softmax_row({a, b});
              Array row(3, logarithm ? -infinity : 0);
              row[static_cast<std::size_t>(first)] = pair[0];
              row[static_cast<std::size_t>(second)] = pair[1];
              out.insert(out.end(), row.begin(), row.end());
            }
            out.insert(out.end(), 3, where_all_are_masked);
            return Arrays{out};
          },
      .tolerance_f32 = 1e-4,  // of 500 + x
      .tolerance_f64 = 1e-12,
      .differentiable = !std::isinf(where_all_are_masked)};
}

ErrorCase integer_rows(const char* op, Value (*function)(Value)) {
  return {"integers",
          [function](Graph& graph) {
            function(graph.input("x", {DType::i32, {3}}, false));
          },
          fmt::format("{}: takes f32 or f64, not i32[3]", op)};
}

// -- cross-entropy

enum class Targets { some_ignored, all_ignored };

OpCase cross_entropy_case(const Shape& targets, std::int64_t classes, bool by_position, Targets which) {
  Shape logits = targets;
  logits.push_back(classes);
  const auto reference = [=](const Arrays& x) {
    Array losses;
    std::size_t counted = 0;
    for (std::size_t i = 0; i < x[1].size(); ++i) {
      const auto begin = x[0].begin() + static_cast<std::ptrdiff_t>(i) * classes;
      const bool ignored = x[1][i] < 0;
      counted += ignored ? 0 : 1;
      losses.push_back(ignored ? 0
                               : -log_softmax_row(Array(begin, begin + classes))[static_cast<std::size_t>(x[1][i])]);
    }
    if (by_position) return Arrays{losses};
    return Arrays{{sum(losses) / static_cast<double>(std::max<std::size_t>(1, counted))}};
  };
  const double low = which == Targets::all_ignored ? -9 : -2;
  const double high = which == Targets::all_ignored ? -1 : static_cast<double>(classes);
  return {
      .name = fmt::format("{}{}{}", logits.to_string(), by_position ? " by position" : "",
                          which == Targets::all_ignored ? ", all ignored" : ""),
      .operands = {real(logits, -4, 4), integer(targets, low, high)},
      .build =
          [by_position](Graph&, const std::vector<Value>& x) {
            return std::vector<Value>{by_position ? cross_entropy_by_position(x[0], x[1]) : cross_entropy(x[0], x[1])};
          },
      .reference = reference,
      .tolerance_f32 = 2e-6,
      .differentiable = logits.size() < 1000};
}

// -- layer normalization

enum class Norm { shifted, unshifted, root_mean_square };

Value build_norm(Norm norm, const std::vector<Value>& x, double epsilon) {
  if (norm == Norm::root_mean_square) return rms_norm(x[0], x[1], epsilon);
  return layer_norm(x[0], x[1], norm == Norm::shifted ? std::optional(x[2]) : std::nullopt, epsilon);
}

std::vector<Operand> norm_operands(Norm norm, const Shape& shape) {
  std::vector<Operand> operands = {real(shape, -2, 3), real(shape.last(1))};
  if (norm == Norm::shifted) operands.push_back(real(shape.last(1)));
  return operands;
}

std::string norm_name(Norm norm, const Shape& shape) {
  const char* kinds[] = {"", ", no shift", ", mean left in"};
  return shape.to_string() + kinds[static_cast<int>(norm)];
}

OpCase layer_norm_case(const Shape& shape, double epsilon, Norm norm = Norm::shifted) {
  const std::int64_t width = shape[-1];
  const auto row = [=](const Array& x) {
    const double mean = norm == Norm::root_mean_square ? 0 : sum(x) / static_cast<double>(width);
    const double variance = sum(map(x, [&](double a) { return (a - mean) * (a - mean); })) / static_cast<double>(width);
    return map(x, [&](double a) { return (a - mean) / std::sqrt(variance + epsilon); });
  };
  return {
      .name = norm_name(norm, shape),
      .operands = norm_operands(norm, shape),
      .build = [epsilon, norm](
                   Graph&, const std::vector<Value>& x) { return std::vector<Value>{build_norm(norm, x, epsilon)}; },
      .reference =
          [=](const Arrays& x) {
            Array out = by_row(x[0], width, row);
            for (std::size_t i = 0; i < out.size(); ++i) {
              const std::size_t column = i % static_cast<std::size_t>(width);
              out[i] = out[i] * x[1][column] + (norm == Norm::shifted ? x[2][column] : 0);
            }
            return Arrays{out};
          },
      .tolerance_f32 = 2e-6,
      .differentiable = shape.size() < 1000};
}

// Its gradients as outputs of their own, where there are too many elements for finite differences.
OpCase layer_norm_gradient_case(const Shape& shape, Norm norm = Norm::shifted) {
  std::vector<Operand> operands = norm_operands(norm, shape);
  operands.push_back(real(shape));
  return {.name = "several blocks: " + norm_name(norm, shape),
          .operands = operands,
          .build =
              [norm](Graph& graph, const std::vector<Value>& x) {
                const Value loss = sum_all(build_norm(norm, x, 1e-5) * x.back());
                return differentiate(graph, loss, {x.begin(), x.end() - 1});
              },
          .reference = nullptr,
          .tolerance_f64 = 1e-12,
          .differentiable = false};
}

}  // namespace

OpCases cases_matmul() {
  OpCases all;
  for (const MatmulShapes& shapes : std::initializer_list<MatmulShapes>{
           {"two matrices", {3, 5}, {5, 4}},
           {"one element", {1, 1}, {1, 1}},
           {"a row and a column", {1, 9}, {9, 1}},
           {"left transposed", {5, 3}, {5, 4}, true, false},
           {"right transposed", {3, 5}, {4, 5}, false, true},
           {"both transposed", {5, 3}, {4, 5}, true, true},
           {"vectors and their rests", {7, 19}, {19, 13}},
           {"right transposed, vectors and their rests", {7, 19}, {6, 19}, false, true},
           {"left transposed, vectors and their rests", {19, 8}, {19, 9}, true, false},
           {"a batch", {4, 3, 5}, {4, 5, 2}},
           {"a batch, right transposed", {4, 3, 5}, {4, 2, 5}, false, true},
           {"rows that share a matrix", {2, 3, 5}, {5, 4}},
           {"rows that share a transposed matrix", {2, 3, 5}, {4, 5}, false, true},
           {"transposed rows that share a matrix", {2, 5, 3}, {5, 4}, true, false},
           {"a matrix for a batch", {3, 5}, {2, 5, 4}},
           {"leading axes that broadcast", {2, 1, 3, 4}, {5, 4, 2}},
           {"large enough for the library", {65, 70}, {70, 50}},
           {"large enough for the library, left transposed", {70, 65}, {70, 50}, true, false},
           {"large enough for the library, right transposed", {65, 70}, {50, 70}, false, true},
           {"large enough for the library, both transposed", {70, 65}, {50, 70}, true, true},
           {"tiles of rows", {1300, 70}, {70, 64}},
           {"tiles of columns", {70, 300}, {300, 1300}},
           {"slabs of a long contraction", {2500, 7}, {2500, 33}, true, false},
           {"slabs of a batch", {3, 5, 2100}, {3, 2100, 4}},
           {"a tall product", {2, 250, 40}, {40, 96}},
           {"a tall product, right transposed", {500, 40}, {50, 40}, false, true},
           {"a sum over many rows", {2600, 40}, {2600, 64}, true, false},
           {"a large batch of small ones", {3000, 4, 9}, {3000, 9, 5}}}) {
    all.cases.push_back(matmul_case(shapes));
  }
  for (const MatmulShapes& shapes : std::initializer_list<MatmulShapes>{
           {"two matrices", {3, 5}, {5, 4}}, {"a tall product", {2, 250, 40}, {40, 96}, false, false}}) {
    all.cases.push_back(matmul_sum_case(shapes));
  }
  all.errors = {{"inner sizes",
                 [](Graph& graph) {
                   matmul(graph.parameter("a", {32, 128}), graph.parameter("b", {64, 16}));
                 },
                 "matmul: inner sizes differ: left [32, 128], right [64, 16] (128 and 64)"},
                {"inner sizes of a transposed operand",
                 [](Graph& graph) {
                   matmul(graph.parameter("a", {4, 3}), graph.parameter("b", {6, 5}), false, true);
                 },
                 "matmul: inner sizes differ: left [4, 3], right [6, 5] transposed (3 and 5)"},
                {"leading axes",
                 [](Graph& graph) {
                   matmul(graph.parameter("a", {2, 4, 3}), graph.parameter("b", {5, 3, 4}));
                 },
                 "matmul: leading axes do not broadcast: left [2, 4, 3], right [5, 3, 4]"},
                {"a vector",
                 [](Graph& graph) {
                   matmul(graph.parameter("a", {4, 3}), graph.parameter("b", {3}));
                 },
                 "matmul: right must have at least 2 axes, not the shape [3]"},
                {"integers",
                 [](Graph& graph) {
                   matmul(graph.parameter("a", {4, 3}), graph.input("b", {DType::i32, {3, 2}}, false));
                 },
                 "matmul: right must be f32, not i32[3, 2]"}};
  return all;
}

OpCases cases_softmax() {
  OpCases all = {row_cases(softmax, softmax_row), {integer_rows("softmax", softmax)}};
  all.cases.push_back(masked_rows(softmax, 0));
  return all;
}

OpCases cases_softmax_gradient() {
  std::vector<OpCase> cases = row_cases(softmax, softmax_row);
  cases.pop_back();  // too large to be differentiated
  return {cases, {}};
}

OpCases cases_log_softmax() {
  OpCases all = {row_cases(log_softmax, log_softmax_row), {integer_rows("log_softmax", log_softmax)}};
  all.cases.push_back(masked_rows(log_softmax, -std::numeric_limits<double>::infinity()));
  return all;
}

OpCases cases_cross_entropy() {
  OpCases all;
  for (const bool by_position : {false, true}) {
    all.cases.push_back(cross_entropy_case({2, 5}, 7, by_position, Targets::some_ignored));
    all.cases.push_back(cross_entropy_case({9}, 37, by_position, Targets::some_ignored));
    all.cases.push_back(cross_entropy_case({3}, 4, by_position, Targets::all_ignored));
    all.cases.push_back(cross_entropy_case({}, 1, by_position, Targets::some_ignored));
    all.cases.push_back(cross_entropy_case({1000}, 50, by_position, Targets::some_ignored));
  }
  all.errors = {{"targets of another shape",
                 [](Graph& graph) {
                   cross_entropy(graph.parameter("x", {2, 5, 7}), graph.input("y", {DType::i32, {2, 7}}, false));
                 },
                 "cross_entropy: targets must be i32[2, 5], not i32[2, 7]"}};
  return all;
}

OpCases cases_cross_entropy_gradient() {
  OpCases all = cases_cross_entropy();
  std::erase_if(all.cases, [](const OpCase& of) { return !of.differentiable; });
  all.errors.clear();
  return all;
}

// Loss and both gradients, against those of the product and the cross entropy one after the other.
OpCases cases_linear_cross_entropy() {
  const auto targets_of = [](std::int64_t classes) {
    return [classes](Graph& graph, const Shape& shape) {
      std::vector<std::int64_t> targets;
      for (std::int64_t i = 0; i < shape.size(); ++i) targets.push_back(i % 5 == 3 ? -1 : i * 7 % classes);
      return graph.constant_i32(shape, targets);
    };
  };
  const auto case_of = [&](const std::string& name, const Shape& x, std::int64_t classes, bool all_outputs) {
    const auto make_targets = targets_of(classes);
    return OpCase{.name = name,
                  .operands = {real(x, -2, 2), real({classes, x[-1]}, -1, 1)},
                  .build =
                      [=](Graph& graph, const std::vector<Value>& o) {
                        const Value targets = make_targets(graph, x.first(x.rank() - 1));
                        std::vector<Value> outputs = graph.apply(op_linear_cross_entropy, {o[0], o[1], targets});
                        if (!all_outputs) outputs.resize(1);
                        return outputs;
                      },
                  .reference = nullptr,
                  .tolerance_f32 = 4e-6,
                  .tolerance_f64 = 1e-12,
                  .differentiable = !all_outputs};
  };
  return {{case_of("a few rows", {2, 3, 4}, 9, false), case_of("one row", {5}, 3, false),
           case_of("a few rows, all outputs", {2, 3, 4}, 9, true),
           case_of("tiles and groups of rows", {1100, 24}, 150, true)},
          {{"a weight of another width",
            [](Graph& graph) {
              graph.apply(op_linear_cross_entropy, {graph.parameter("x", {2, 4}), graph.parameter("w", {9, 5}),
                                                    graph.constant_i32({2}, {0, 1})});
            },
            "linear_cross_entropy: weight must be f32[9, 4], not f32[9, 5]"}}};
}

namespace {

std::vector<Operand> mlp_operands(const Shape& x, std::int64_t hidden, std::int64_t out, bool biased) {
  std::vector<Operand> operands = {real(x, -2, 2), real({x[-1], hidden}), real({hidden, out})};
  if (biased) operands.push_back(real({hidden}));
  return operands;
}

OpCase mlp_case(const std::string& name, const Shape& x, std::int64_t hidden, std::int64_t out, bool biased) {
  return {.name = name,
          .operands = mlp_operands(x, hidden, out, biased),
          .build =
              [=](Graph& graph, const std::vector<Value>& o) {
                return std::vector<Value>{graph.apply(op_gelu_mlp, o, GeluMlpAttributes{biased})[0]};
              },
          .reference = nullptr,
          .tolerance_f32 = 4e-6,
          .tolerance_f64 = 1e-12,
          .differentiable = x.size() < 1000};
}

OpCase mlp_gradient_case(const std::string& name, const Shape& x, std::int64_t hidden, std::int64_t out, bool biased) {
  OpCase result = mlp_case(name, x, hidden, out, biased);
  result.build = [=](Graph& graph, const std::vector<Value>& o) {
    const Value y = graph.apply(op_gelu_mlp, o, GeluMlpAttributes{biased})[0];
    return differentiate(graph, mean_all(y * y), o);
  };
  return result;
}

}  // namespace

OpCases cases_gelu_mlp() {
  return {{mlp_case("two layers", {2, 3, 4}, 7, 5, false), mlp_case("two layers, biased", {2, 3, 4}, 7, 5, true),
           mlp_case("tiles of rows", {500, 20}, 33, 20, true)},
          {{"an outer weight of another height",
            [](Graph& graph) {
              graph.apply(
                  op_gelu_mlp,
                  {graph.parameter("x", {2, 4}), graph.parameter("inner", {4, 8}), graph.parameter("o", {7, 4})},
                  GeluMlpAttributes{});
            },
            "gelu_mlp: outer_weight must be f32[8, 4], not f32[7, 4]"}}};
}

OpCases cases_gelu_mlp_gradient() {
  return {{mlp_case("two layers", {2, 3, 4}, 7, 5, false), mlp_case("two layers, biased", {2, 3, 4}, 7, 5, true),
           mlp_gradient_case("tiles and groups of rows", {1100, 20}, 33, 20, true)},
          {}};
}

OpCases cases_layer_norm() {
  OpCases all;
  for (const Shape& shape : {Shape{6}, Shape{3, 16}, Shape{2, 3, 37}, Shape{700, 50}}) {
    all.cases.push_back(layer_norm_case(shape, 1e-5));
  }
  all.cases.push_back(layer_norm_case({3, 7}, 0.5));
  for (const Norm norm : {Norm::unshifted, Norm::root_mean_square}) {
    all.cases.push_back(layer_norm_case({2, 3, 37}, 0.1, norm));
    all.cases.push_back(layer_norm_case({70, 50}, 1e-5, norm));
  }
  all.errors = {
      {"a scale of another width",
       [](Graph& graph) {
         layer_norm(graph.parameter("x", {2, 5}), graph.parameter("scale", {4}), graph.parameter("shift", {5}));
       },
       "layer_norm: scale must be f32[5], not f32[4]"}};
  return all;
}

OpCases cases_layer_norm_gradient() {
  return {{layer_norm_case({3, 16}, 1e-5), layer_norm_case({2, 3, 37}, 0.5),
           layer_norm_case({3, 16}, 1e-5, Norm::unshifted), layer_norm_case({2, 3, 37}, 0.5, Norm::root_mean_square),
           layer_norm_gradient_case({1500, 50}), layer_norm_gradient_case({1500, 50}, Norm::unshifted),
           layer_norm_gradient_case({1500, 50}, Norm::root_mean_square)},
          {}};
}

}  // namespace jari::test
