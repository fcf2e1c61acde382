#include "framework/component/transformer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/component/transformer_checkpoint.hpp"
#include "framework/ops/attention.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

void TransformerParameters::check(FieldChecks& checks) const {
  if (width % heads != 0)
    checks.error("heads", fmt::format("{} heads do not divide the width {}", heads, width),
                 "each head takes width / heads numbers");
  const double hidden = mlp_ratio * static_cast<double>(width);
  if (hidden < 1 || hidden != std::floor(hidden))
    checks.error("mlp_ratio", fmt::format("{} times the width {} is {}, not a whole number", mlp_ratio, width, hidden),
                 "choose a ratio that gives one");
  if (checkpoint) check_file(checks, "checkpoint", *checkpoint);
}

namespace {

// N(0, (deviation factor)^2), the deviation of each trial.
class ScaledNormal final : public Init {
 public:
  ScaledNormal(PerTrial<double> deviation, double factor) : deviation_(std::move(deviation)), factor_(factor) {}
  void fill(const InitContext& context, std::span<double> out) const override {
    fill_normal(context, 0, context.value_of(deviation_) * factor_, out);
  }

 private:
  PerTrial<double> deviation_;
  double factor_;
};

// [batch, length, width] -> [batch, heads, length, head_width].
Value split_heads(Value x, std::int64_t heads) {
  const Shape& shape = x.shape();
  return permute(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

Value activate(Value x, Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_exact:
      return gelu_exact(x);
    case Activation::relu:
      return relu(x);
    case Activation::swiglu:
      break;
  }
  JARI_ASSERT(false, "swiglu has a matrix more");
}

double scale_of(const PositionContext& at) { return 1 / std::sqrt(static_cast<double>(at.head_width)); }

Value merge_heads(Value x) {
  const Shape& shape = x.shape();
  return reshape(permute(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

}  // namespace

// Where a token is put that stands behind others whose keys and values are kept.
struct Transformer::Decoding {
  Value positions;   // i32 [length], of all places
  Value is_current;  // boolean [length, 1]: the token's place
  Value mask;        // [1, length]: 0 up to there, -infinity after it
};

Transformer::Transformer(const TransformerParameters& parameters, bool causal)
    : parameters_(parameters),
      causal_(causal),
      checkpoint_(parameters.checkpoint ? std::make_shared<CheckpointValues>(parameters.checkpoint->path) : nullptr) {}

std::string Transformer::content_hash() const { return checkpoint_ ? checkpoint_->content_hash() : ""; }

Value Transformer::logits(const BuildContext& given, Value tokens) const {
  const BuildContext context = with_checkpoint(given);
  const PositionContext at = place_tokens(context);
  Value x = embed(context, tokens, at);
  for (std::int64_t i = 0; i < parameters_.blocks; ++i) x = block(context, i, x, at, nullptr, nullptr);
  return output(context, x);
}

std::vector<HiddenState> Transformer::hidden_states(const BuildContext& given, Value tokens) const {
  const BuildContext context = with_checkpoint(given);
  const PositionContext at = place_tokens(context);
  Value x = embed(context, tokens, at);
  std::vector<HiddenState> states = {{"embedding", x}};
  for (std::int64_t i = 0; i < parameters_.blocks; ++i) x = block(context, i, x, at, nullptr, &states);
  return states;
}

Value Transformer::next_logits(const BuildContext& given, Value token, Value place_of_token) const {
  JARI_ASSERT(causal_, "a model that sees what comes later can not go on token by token");
  const BuildContext context = with_checkpoint(given);
  Graph& graph = context.graph;
  PositionContext at = place_tokens(context);
  const Value places = iota(graph, context.length);
  const Value zero = graph.constant(0.0), out = graph.constant(-std::numeric_limits<double>::infinity());
  const Decoding decoding = {.positions = at.query_positions,
                             .is_current = reshape(equal(places, place_of_token), {context.length, 1}),
                             .mask = reshape(select(less(place_of_token, places), out, zero), {1, context.length})};
  at.query_positions = at.key_positions = gather(at.query_positions, place_of_token);
  Value x = embed(context, reshape(token, {1, 1}), at);
  for (std::int64_t i = 0; i < parameters_.blocks; ++i) x = block(context, i, x, at, &decoding, nullptr);
  const Value logits = output(context, x);
  return reshape(logits, {1, context.vocabulary});
}

BuildContext Transformer::with_checkpoint(const BuildContext& given) const {
  BuildContext context = given;
  context.first_values = checkpoint_.get();
  return context;
}

PositionContext Transformer::place_tokens(const BuildContext& context) const {
  const Graph::Scope scope(context.graph, "position", parameters_.position.span());
  return place(context, *parameters_.position, parameters_.width, parameters_.heads, causal_);
}

Value Transformer::embed(const BuildContext& context, Value tokens, const PositionContext& at) const {
  const Value table =
      context.parameter("embedding", {context.vocabulary, parameters_.width}, weights(), {"token", "width"});
  Value x = gather(table, tokens);
  if (parameters_.embedding_scale != 1) x = x * parameters_.embedding_scale;
  {
    const Graph::Scope scope(context.graph, "position", parameters_.position.span());
    x = parameters_.position->embed(at, x);
  }
  return drop(context, x);
}

Value Transformer::block(const BuildContext& context, std::int64_t index, Value x, const PositionContext& at,
                         const Decoding* decoding, std::vector<HiddenState>* states) const {
  const std::string name = fmt::format("block{}", index);
  const auto note = [&](const std::string& place, Value rows) {
    if (states) states->push_back({place, rows});
    return rows;
  };
  if (parameters_.norm_place == NormPlace::before) {
    x = note(name + "/attention", x + attend(context, name, norm(context, name + "/attention_norm", x), at, decoding));
    return note(name, x + mlp(context, name, norm(context, name + "/mlp_norm", x)));
  }
  x = note(name + "/attention", norm(context, name + "/attention_norm", x + attend(context, name, x, at, decoding)));
  return note(name, norm(context, name + "/mlp_norm", x + mlp(context, name, x)));
}

Value Transformer::attend(const BuildContext& context, const std::string& block, Value x, const PositionContext& at,
                          const Decoding* decoding) const {
  const std::string path = block + "/attention";
  const std::int64_t width = parameters_.width;
  std::vector<Value> projected;
  {
    const Graph::Scope scope(context.graph, path);
    const Value weight = context.parameter("weight", {width, 3 * width}, weights(), {"in", "out"});
    const Value bias = parameters_.bias ? context.parameter("bias", {3 * width}, zeros(), {"out"}) : Value();
    for (std::int64_t begin = 0; begin < 3 * width; begin += width) {
      const Value product = matmul(x, slice(weight, 1, begin, begin + width));
      const Value shifted = bias ? product + slice(bias, 0, begin, begin + width) : product;
      projected.push_back(split_heads(shifted, parameters_.heads));
    }
  }
  const Value seen =
      decoding ? score_cached(context, path, projected, at, *decoding) : score(context, path, projected, at);
  const Graph::Scope scope(context.graph, path);
  return drop(context, linear(context, "output_", merge_heads(seen), width, output_weights()));
}

// The scheme's own scope is not that of a block: all blocks share its parameters.
Value Transformer::score(const BuildContext& context, const std::string& path, const std::vector<Value>& projected,
                         const PositionContext& at) const {
  Value query = projected[0], key = projected[1];
  std::optional<Value> bias;
  {
    const Graph::Scope scope(context.graph, "position", parameters_.position.span());
    std::tie(query, key) = parameters_.position->rotate(at, query, key);
    bias = parameters_.position->bias(at, query, key);
  }
  const Graph::Scope scope(context.graph, path);
  const AttentionOptions options{.scale = scale_of(at), .causal = causal_};
  if (!context.training || !parameters_.attention_dropout) return attention(query, key, projected[2], bias, options);
  const Value seen = attention_probabilities(query, key, bias, options);
  return matmul(context.dropout(seen, "attention_dropout", *parameters_.attention_dropout), projected[2]);
}

// projected: query, key and value of one token, [1, heads, 1, head_width] each.
Value Transformer::score_cached(const BuildContext& context, const std::string& path,
                                const std::vector<Value>& projected, const PositionContext& at,
                                const Decoding& decoding) const {
  Graph& graph = context.graph;
  const auto in_position = [&](const auto& hook) {
    const Graph::Scope scope(graph, "position", parameters_.position.span());
    return hook();
  };
  const auto keep = [&](const std::string& name, Value row) {
    const Graph::Scope scope(graph, path);
    const Value cache = graph.parameter(graph.path(name), {1, parameters_.heads, context.length, at.head_width});
    const Value rows = select(decoding.is_current, row, cache);
    graph.update(cache, rows);
    return rows;
  };
  const auto [query, key] = in_position([&] { return parameters_.position->rotate(at, projected[0], projected[1]); });
  const Value keys = keep("kept_keys", key), values = keep("kept_values", projected[2]);
  PositionContext at_keys = at;
  at_keys.key_positions = decoding.positions;
  const std::optional<Value> bias =
      in_position([&, query = query] { return parameters_.position->bias(at_keys, query, keys); });
  const Graph::Scope scope(graph, path);
  const Value masked = bias ? *bias + decoding.mask : decoding.mask;
  return attention(query, keys, values, masked, {.scale = scale_of(at), .causal = false});
}

Value Transformer::mlp(const BuildContext& context, const std::string& block, Value x) const {
  const Graph::Scope scope(context.graph, block + "/mlp");
  const auto hidden =
      static_cast<std::int64_t>(std::llround(parameters_.mlp_ratio * static_cast<double>(parameters_.width)));
  Value inner = linear(context, "", x, hidden, weights());
  if (parameters_.activation == Activation::swiglu) {
    const Value gate = linear(context, "gate_", x, hidden, weights());
    inner = gate * sigmoid(gate) * inner;
  } else {
    inner = activate(inner, parameters_.activation);
  }
  return drop(context, linear(context, "output_", inner, parameters_.width, output_weights()));
}

Value Transformer::output(const BuildContext& context, Value x) const {
  if (parameters_.norm_place == NormPlace::before) x = norm(context, "norm", x);
  const char* table = parameters_.tied ? "embedding" : "output_weight";
  const Value weight = context.parameter(table, {context.vocabulary, parameters_.width}, weights(), {"token", "width"});
  return matmul(x, weight, false, true);
}

Value Transformer::norm(const BuildContext& context, const std::string& name, Value x) const {
  const Graph::Scope scope(context.graph, name);
  const Value scale = context.parameter("scale", {parameters_.width}, constant_init(1), {"width"});
  if (parameters_.norm == NormKind::rms) return rms_norm(x, scale, parameters_.epsilon);
  std::optional<Value> shift;
  if (parameters_.bias) shift = context.parameter("shift", {parameters_.width}, zeros(), {"width"});
  return layer_norm(x, scale, shift, parameters_.epsilon);
}

Value Transformer::linear(const BuildContext& context, const std::string& name, Value x, std::int64_t width,
                          Initializer init) const {
  const Value weight = context.parameter(name + "weight", {x.shape()[-1], width}, std::move(init), {"in", "out"});
  const Value product = matmul(x, weight);
  return parameters_.bias ? product + context.parameter(name + "bias", {width}, zeros(), {"out"}) : product;
}

Value Transformer::drop(const BuildContext& context, Value x) const {
  if (!context.training || !parameters_.dropout) return x;
  return context.dropout(x, "dropout", *parameters_.dropout);
}

Value Transformer::position_table(const BuildContext& context, std::int64_t length) const {
  BuildContext at_length = with_checkpoint(context);
  at_length.length = length;
  const Graph::Scope scope(context.graph, "position", parameters_.position.span());
  return embedded_zeros(at_length, *parameters_.position, parameters_.width);
}

Value Transformer::position_bias(const BuildContext& context, std::int64_t length) const {
  BuildContext at_length = with_checkpoint(context);
  at_length.length = length;
  const Graph::Scope scope(context.graph, "position", parameters_.position.span());
  return bias_of_zeros(at_length, *parameters_.position, parameters_.width, parameters_.heads, causal_);
}

Initializer Transformer::weights() const { return std::make_shared<ScaledNormal>(parameters_.init_deviation, 1); }

Initializer Transformer::output_weights() const {
  const double factor = 1 / std::sqrt(2 * static_cast<double>(parameters_.blocks));
  return std::make_shared<ScaledNormal>(parameters_.init_deviation, factor);
}

}  // namespace jari
