// Attention with linear biases (Press, Smith, Lewis 2022, "Train short, test long"): bias = -slope |offset|, not scaled
// with the scores. Slopes of H heads: 2^(-8h/H), h = 1 .. H, where H is a power of two; otherwise those of the next
// lower power c, then every other one of 2c, from the first on.
//
// The paper is causal. Where a model looks both ways, equal slopes on both sides can not tell left from right:
// `left_scale` makes keys left of the query (the past) fall off faster or slower than those at its right. `learned`
// trains a slope for each head and side, from these values on.

#include <fmt/format.h>

#include <cmath>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct AlibiParameters {
  std::vector<double> slopes;
  PerTrial<double> slope_scale = 1.0;
  PerTrial<double> left_scale = 1.0;
  bool learned = false;
  template <class F>
  void fields(F& f) {
    f("slopes", slopes, "one for each head, or one for all of them; by default the paper's geometric series");
    f("slope_scale", slope_scale, "multiplies the slope of every head, on both sides", more_than(0));
    f("left_scale", left_scale, "multiplies the slopes of keys left of the query once more; 1 is symmetric",
      at_least(0));
    f("learned", learned, "train the slopes, from these values on");
  }
};

void append_series(std::int64_t heads, std::int64_t stride, std::int64_t count, std::vector<double>& slopes) {
  for (std::int64_t i = 0; i < count; ++i)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(1 + i * stride) / static_cast<double>(heads)));
}

std::vector<double> geometric_slopes(std::int64_t heads) {
  std::int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  append_series(power, 1, power, slopes);
  append_series(2 * power, 2, heads - power, slopes);
  return slopes;
}

// Slopes as first values of parameters.
class SlopeInit final : public Init {
 public:
  SlopeInit(std::vector<double> slopes, std::vector<PerTrial<double>> scales)
      : slopes_(std::move(slopes)), scales_(std::move(scales)) {}
  void fill(const InitContext& context, std::span<double> out) const override {
    for (std::size_t head = 0; head < out.size(); ++head) {
      out[head] = slopes_[head];
      for (const PerTrial<double>& scale : scales_) out[head] *= context.value_of(scale);
    }
  }

 private:
  std::vector<double> slopes_;
  std::vector<PerTrial<double>> scales_;
};

class Alibi final : public Position {
 public:
  explicit Alibi(const AlibiParameters& parameters) : parameters_(parameters) {}

  std::optional<Value> bias(const PositionContext& context, Value, Value) const override {
    Graph& graph = context.build.graph;
    const Value offset = offsets(context), zero = graph.constant_i32({}, {0});
    const Value to_left = cast(maximum(zero - offset, zero), graph.real());  // [length, keys]
    const Value left = slopes(context, "left_slope", {parameters_.slope_scale, parameters_.left_scale}) * to_left;
    if (context.causal) return -left;
    const Value to_right = cast(maximum(offset, zero), graph.real());
    return -(left + slopes(context, "right_slope", {parameters_.slope_scale}) * to_right);
  }

 private:
  // A scalar for one head, so that the bias is [length, keys]; otherwise [heads, 1, 1].
  Value slopes(const PositionContext& context, const std::string& name, std::vector<PerTrial<double>> scales) const {
    const Shape shape = context.heads == 1 ? Shape{} : Shape{context.heads, 1, 1};
    const std::vector<double> values = slopes_of_heads(context);
    if (parameters_.learned) {
      auto init = std::make_shared<SlopeInit>(values, std::move(scales));
      return reshape(context.build.parameter(name, {context.heads}, std::move(init), {"head"}), shape);
    }
    Value slope = context.build.graph.constant(shape, values);
    for (const PerTrial<double>& scale : scales) slope = slope * context.build.per_trial(scale);
    return slope;
  }

  std::vector<double> slopes_of_heads(const PositionContext& context) const {
    const auto heads = static_cast<std::size_t>(context.heads);
    if (parameters_.slopes.empty()) return geometric_slopes(context.heads);
    if (parameters_.slopes.size() == 1) return std::vector<double>(heads, parameters_.slopes.front());
    if (parameters_.slopes.size() != heads)
      context.build.fail(
          fmt::format("position/alibi: {} slopes for {} heads; give one slope for each head, or one for all",
                      parameters_.slopes.size(), heads));
    return parameters_.slopes;
  }

  AlibiParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Position, jari::Alibi, jari::AlibiParameters>(
      "alibi", "a penalty on scores that grows linearly with distance");
}
