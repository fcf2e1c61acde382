// Attention.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ops/reference.hpp"

namespace jari::test {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Bias { none, shared, by_head };

struct Sizes {
  const char* name;
  std::int64_t batch, heads, length, keys, width, value_width;
  Bias bias = Bias::none;
  bool causal = false;
  bool masked = false;        // -infinity in the bias: every third key, and all keys of the second query
  bool tokens_first = false;  // operands and result are [batch, length, heads, width], and the axes are exchanged
};

Shape bias_shape(const Sizes& sizes) {
  if (sizes.bias == Bias::shared) return {sizes.length, sizes.keys};
  return {sizes.heads, sizes.length, sizes.keys};
}

// What is added to the bias.
Array mask_of(const Sizes& sizes) {
  Array mask(static_cast<std::size_t>(sizes.length * sizes.keys));
  for (std::int64_t i = 0; i < sizes.length; ++i) {
    for (std::int64_t j = 0; j < sizes.keys; ++j) {
      const bool out = sizes.masked && (j % 3 == 2 || i == 1);
      mask[static_cast<std::size_t>(i * sizes.keys + j)] = out ? -kInfinity : 0;
    }
  }
  return mask;
}

constexpr double kScale = 0.7;

Value build_attention(Graph& graph, const Sizes& sizes, const std::vector<Value>& x) {
  std::optional<Value> bias;
  if (sizes.bias != Bias::none) bias = x[3];
  if (sizes.masked) bias = *bias + graph.constant({sizes.length, sizes.keys}, mask_of(sizes));
  const AttentionOptions options{.scale = kScale, .causal = sizes.causal};
  if (!sizes.tokens_first) return attention(x[0], x[1], x[2], bias, options);
  const auto exchange = [](Value value) { return permute(value, {0, 2, 1, 3}); };
  return exchange(attention(exchange(x[0]), exchange(x[1]), exchange(x[2]), bias, options));
}

// [outer, a, b, inner] -> [outer, b, a, inner].
Array exchanged(const Array& x, std::int64_t outer, std::int64_t a, std::int64_t b) {
  const std::int64_t inner = static_cast<std::int64_t>(x.size()) / (outer * a * b);
  Array out;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t j = 0; j < b; ++j) {
      for (std::int64_t i = 0; i < a; ++i) {
        const auto begin = x.begin() + ((o * a + i) * b + j) * inner;
        out.insert(out.end(), begin, begin + inner);
      }
    }
  }
  return out;
}

// One query against the keys of one pair: `score(j)` is -infinity for a key that is out.
template <class Score>
Array attend(std::int64_t keys, std::int64_t value_width, const double* value, const Score& score) {
  double largest = -kInfinity, total = 0;
  for (std::int64_t j = 0; j < keys; ++j) largest = std::max(largest, score(j));
  Array out(static_cast<std::size_t>(value_width), 0.0);
  if (largest == -kInfinity) return out;
  for (std::int64_t j = 0; j < keys; ++j) {
    const double power = std::exp(score(j) - largest);
    total += power;
    for (std::int64_t p = 0; p < value_width; ++p)
      out[static_cast<std::size_t>(p)] += power * value[j * value_width + p];
  }
  for (double& element : out) element /= total;
  return out;
}

Arrays reference(const Sizes& sizes, const Arrays& x);

Arrays reference_of_exchanged(Sizes sizes, Arrays x) {
  sizes.tokens_first = false;
  x[0] = exchanged(x[0], sizes.batch, sizes.length, sizes.heads);
  for (std::size_t i : {1, 2}) x[i] = exchanged(x[i], sizes.batch, sizes.keys, sizes.heads);
  return {exchanged(reference(sizes, x)[0], sizes.batch, sizes.heads, sizes.length)};
}

Arrays reference(const Sizes& sizes, const Arrays& x) {
  if (sizes.tokens_first) return reference_of_exchanged(sizes, x);
  const auto& [name, batch, heads, length, keys, width, value_width, bias, causal, masked, tokens_first] = sizes;
  const Array mask = mask_of(sizes);
  Array out;
  for (std::int64_t pair = 0; pair < batch * heads; ++pair) {
    const double *query = x[0].data() + pair * length * width, *key = x[1].data() + pair * keys * width;
    const double* added = bias == Bias::none ? nullptr : x[3].data();
    if (bias == Bias::by_head) added += pair % heads * length * keys;
    for (std::int64_t i = 0; i < length; ++i) {
      const auto score = [&, causal = causal, keys = keys, width = width](std::int64_t j) {
        if (causal && j > i) return -kInfinity;
        double dot = 0;
        for (std::int64_t p = 0; p < width; ++p) dot += query[i * width + p] * key[j * width + p];
        return kScale * dot + (added ? added[i * keys + j] : 0) + mask[static_cast<std::size_t>(i * keys + j)];
      };
      const Array row = attend(keys, value_width, x[2].data() + pair * keys * value_width, score);
      out.insert(out.end(), row.begin(), row.end());
    }
  }
  return {out};
}

std::vector<Operand> operands(const Sizes& sizes) {
  const auto shape = [&](std::int64_t length, std::int64_t width) {
    return sizes.tokens_first ? Shape{sizes.batch, length, sizes.heads, width}
                              : Shape{sizes.batch, sizes.heads, length, width};
  };
  std::vector<Operand> all = {real(shape(sizes.length, sizes.width), -2, 2),
                              real(shape(sizes.keys, sizes.width), -2, 2), real(shape(sizes.keys, sizes.value_width))};
  if (sizes.bias != Bias::none) all.push_back(real(bias_shape(sizes)));
  return all;
}

OpCase attention_case(const Sizes& sizes) {
  std::int64_t elements = 0;
  for (const Operand& operand : operands(sizes)) elements += operand.shape.size();
  return {
      .name = sizes.name,
      .operands = operands(sizes),
      .build = [sizes](Graph& graph,
                       const std::vector<Value>& x) { return std::vector<Value>{build_attention(graph, sizes, x)}; },
      .reference = [sizes](const Arrays& x) { return reference(sizes, x); },
      .tolerance_f32 = 4e-6,
      .differentiable = elements < 1000};
}

// The gradients as outputs, to be compared with those of the op's body where finite differences would take too long.
OpCase gradient_case(const Sizes& sizes) {
  return {.name = sizes.name,
          .operands = operands(sizes),
          .build =
              [sizes](Graph& graph, const std::vector<Value>& x) {
                const Value result = build_attention(graph, sizes, x);
                return differentiate(graph, sum_all(result * result), x);
              },
          .reference = nullptr,
          .tolerance_f64 = 1e-12,
          .differentiable = false};
}

std::vector<Sizes> small_sizes() {
  return {{"no bias", 2, 2, 3, 4, 5, 5},
          {"a bias", 2, 2, 3, 4, 5, 5, Bias::shared},
          {"a bias by head", 2, 3, 3, 4, 5, 5, Bias::by_head},
          {"one head with vectors of width", 3, 1, 6, 6, 16, 16, Bias::shared},
          {"values of another width", 2, 1, 5, 3, 4, 9, Bias::shared},
          {"masked keys and queries", 2, 2, 4, 5, 5, 3, Bias::shared, false, true},
          {"masked keys and queries, by head", 2, 2, 4, 5, 5, 3, Bias::by_head, false, true},
          {"causal", 2, 2, 5, 5, 6, 6, Bias::none, true},
          {"causal with fewer keys", 1, 2, 6, 4, 5, 5, Bias::shared, true},
          {"causal with more keys", 1, 2, 3, 6, 7, 5, Bias::shared, true},
          {"more keys than width", 2, 2, 4, 9, 3, 4, Bias::by_head},
          {"more keys than width, masked", 2, 1, 4, 9, 3, 4, Bias::shared, false, true},
          {"more keys than width, causal", 2, 1, 9, 9, 3, 4, Bias::none, true},
          {"tokens first", 2, 3, 4, 5, 6, 7, Bias::by_head, false, false, true},
          {"tokens first, causal", 2, 2, 9, 9, 3, 4, Bias::shared, true, false, true},
          {"one of everything", 1, 1, 1, 1, 1, 1, Bias::shared}};
}

std::vector<Sizes> large_sizes() {
  return {{"the probe's shape", 33, 1, 20, 20, 128, 128, Bias::shared},
          {"many pairs", 70, 3, 11, 13, 24, 20, Bias::by_head},
          {"several tiles of rows", 2, 1, 300, 300, 8, 8, Bias::shared},
          {"tokens first, several tiles of rows, causal", 2, 3, 130, 130, 16, 8, Bias::by_head, true, false, true},
          {"several tiles of rows, causal", 2, 2, 300, 300, 8, 8, Bias::none, true},
          {"several tiles of rows, causal with fewer keys", 1, 1, 500, 200, 8, 8, Bias::shared, true}};
}

void add_errors(OpCases& all) {
  const auto parameters = [](Graph& graph, Shape query, Shape key, Shape value, std::optional<Shape> bias) {
    std::optional<Value> added;
    if (bias) added = graph.parameter("bias", *bias);
    attention(graph.parameter("query", query), graph.parameter("key", key), graph.parameter("value", value), added, {});
  };
  all.errors = {{"no heads",
                 [=](Graph& graph) {
                   parameters(graph, {2, 3, 4}, {2, 3, 4}, {2, 3, 4}, {});
                 },
                 "attention: query, key and value must be [batch, heads, length, width], not [2, 3, 4], [2, 3, 4], "
                 "[2, 3, 4]"},
                {"keys of another width",
                 [=](Graph& graph) {
                   parameters(graph, {2, 1, 3, 4}, {2, 1, 5, 6}, {2, 1, 5, 4}, {});
                 },
                 "attention: key must be f32[2, 1, 5, 4], not f32[2, 1, 5, 6]"},
                {"fewer values than keys",
                 [=](Graph& graph) {
                   parameters(graph, {2, 1, 3, 4}, {2, 1, 5, 4}, {2, 1, 4, 4}, {});
                 },
                 "attention: value must be f32[2, 1, 5, 4], not f32[2, 1, 4, 4]"},
                {"a bias of another shape",
                 [=](Graph& graph) {
                   parameters(graph, {2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}, Shape{5, 3});
                 },
                 "attention: bias must be [3, 5] or [2, 3, 5] ([heads,] length, keys), not [5, 3]"}};
}

}  // namespace

OpCases cases_attention() {
  OpCases all;
  for (const Sizes& sizes : small_sizes()) all.cases.push_back(attention_case(sizes));
  for (const Sizes& sizes : large_sizes()) all.cases.push_back(attention_case(sizes));
  add_errors(all);
  return all;
}

OpCases cases_attention_gradient() {
  OpCases all;
  for (const Sizes& sizes : small_sizes()) all.cases.push_back(attention_case(sizes));
  for (const Sizes& sizes : large_sizes()) all.cases.push_back(gradient_case(sizes));
  return all;
}

}  // namespace jari::test
