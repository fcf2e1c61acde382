// One attention layer and nothing else: no residual connection, norm or MLP. What it can not do, its positional scheme
// does not let it do.
//
//   x = embedding[tokens] (+ positions)
//   logits = softmax(x query (x key)^T / sqrt(head_width) (+ bias)) (x value) output_weight^T + output_bias

#include <cmath>
#include <optional>
#include <utility>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct ProbeInit {
  std::optional<Slot<Init>> embedding, query, key, value, output_weight, output_bias;
  template <class F>
  void fields(F& f) {
    f("embedding", embedding, "of the token table; by default N(0, 1)");
    f("query", query, "of the query matrix; by default N(0, 1 / width)");
    f("key", key, "of the key matrix; by default N(0, 1 / width)");
    f("value", value, "of the value matrix; by default N(0, 1 / width)");
    f("output_weight", output_weight, "of the output matrix; by default uniform within 1 / sqrt(width)");
    f("output_bias", output_bias, "of the output bias; by default uniform within 1 / sqrt(width)");
  }
};

struct ProbeParameters {
  std::int64_t width = 128;
  std::int64_t heads = 1;
  bool causal = false;
  Slot<Position> position;
  ProbeInit init;
  template <class F>
  void fields(F& f) {
    f("width", width, "numbers a token", at_least(1));
    f("heads", heads, "attention heads; must divide the width", at_least(1));
    f("causal", causal, "a token sees only itself and what stands before it");
    f("position", position, "how the model knows where a token stands", required);
    f("init", init, "first values of the parameters");
  }
  void check(FieldChecks& checks) const {
    if (width % heads != 0)
      checks.error("heads", std::to_string(heads) + " heads do not divide the width " + std::to_string(width),
                   "each head takes width / heads numbers");
  }
};

Initializer given_or(const std::optional<Slot<Init>>& slot, Initializer usual) {
  return slot ? slot->shared() : std::move(usual);
}

class Probe final : public SequenceModel {
 public:
  explicit Probe(const ProbeParameters& parameters) : parameters_(parameters) {}

  Value logits(const BuildContext& context, Value tokens) const override {
    const std::int64_t width = parameters_.width;
    const double bound = 1 / std::sqrt(static_cast<double>(width));
    const Initializer projection = normal(bound), linear = uniform(-bound, bound);
    const ProbeInit& init = parameters_.init;
    const auto matrix = [&](const char* name, const std::optional<Slot<Init>>& slot) {
      return context.parameter(name, {width, width}, given_or(slot, projection), {"in", "out"});
    };

    const Value embedding = context.parameter("embedding", {context.vocabulary, width},
                                              given_or(init.embedding, normal(1)), {"token", "width"});
    const Value query = matrix("query", init.query), key = matrix("key", init.key), value = matrix("value", init.value);
    const Value output_weight = context.parameter("output_weight", {context.vocabulary, width},
                                                  given_or(init.output_weight, linear), {"token", "width"});
    const Value output_bias =
        context.parameter("output_bias", {context.vocabulary}, given_or(init.output_bias, linear), {"token"});

    const Value seen = attend(context, gather(embedding, tokens), query, key, value);  // [batch, length, width]
    return matmul(seen, output_weight, false, true) + output_bias;
  }

  bool is_causal() const override { return parameters_.causal; }

  Value position_table(const BuildContext& context, std::int64_t length) const override {
    BuildContext at_length = context;
    at_length.length = length;
    const Graph::Scope scope(context.graph, "position", parameters_.position.span());
    return embedded_zeros(at_length, *parameters_.position, parameters_.width);
  }

  Value position_bias(const BuildContext& context, std::int64_t length) const override {
    BuildContext at_length = context;
    at_length.length = length;
    const Graph::Scope scope(context.graph, "position", parameters_.position.span());
    return bias_of_zeros(at_length, *parameters_.position, parameters_.width, parameters_.heads, parameters_.causal);
  }

 private:
  // x: [batch, length, width] -> [batch, length, width].
  Value attend(const BuildContext& context, Value x, Value query, Value key, Value value) const {
    const Position& scheme = *parameters_.position;
    std::optional<Graph::Scope> scope(std::in_place, context.graph, "position", parameters_.position.span());
    const PositionContext at = place(context, scheme, parameters_.width, parameters_.heads, parameters_.causal);
    x = scheme.embed(at, x);
    scope.reset();
    const Value q = split(matmul(x, query)), k = split(matmul(x, key)), v = split(matmul(x, value));
    scope.emplace(context.graph, "position", parameters_.position.span());
    const auto [turned_q, turned_k] = scheme.rotate(at, q, k);
    const std::optional<Value> bias = scheme.bias(at, turned_q, turned_k);
    scope.reset();
    const double scale = 1 / std::sqrt(static_cast<double>(at.head_width));
    return merge(attention(turned_q, turned_k, v, bias, {.scale = scale, .causal = parameters_.causal}));
  }

  // [batch, length, width] -> [batch, heads, length, head_width]; with one head no number moves.
  Value split(Value x) const {
    const std::int64_t batch = x.shape()[0], length = x.shape()[1], heads = parameters_.heads;
    if (heads == 1) return reshape(x, {batch, 1, length, parameters_.width});
    return permute(reshape(x, {batch, length, heads, parameters_.width / heads}), {0, 2, 1, 3});
  }

  Value merge(Value x) const {
    const std::int64_t batch = x.shape()[0], length = x.shape()[2];
    if (parameters_.heads > 1) x = permute(x, {0, 2, 1, 3});
    return reshape(x, {batch, length, parameters_.width});
  }

  ProbeParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Model, jari::Probe, jari::ProbeParameters>(
      "probe", "one attention layer without residual, norm or MLP: only positions can solve the task");
}
