// Rotary positions (Su, Lu, Pan, Murtadha, Wen, Liu 2021, "RoFormer"): pair m of a query or key of `rotated` numbers
// turns by the angle position base^(-2m / rotated), so the score of two tokens depends on their offset alone.

#include <fmt/format.h>

#include <cmath>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

enum class Pairing { interleaved, half_split };
inline const auto& enum_names(Pairing) {
  static const EnumNames<Pairing> names{{Pairing::interleaved, "interleaved"}, {Pairing::half_split, "half_split"}};
  return names;
}

struct RopeParameters {
  double base = 10000;
  Pairing pairing = Pairing::interleaved;
  double fraction = 1;
  template <class F>
  void fields(F& f) {
    f("base", base, "ratio of the slowest turn to the fastest", more_than(1));
    f("pairing", pairing, "pairs (2m, 2m + 1) as in the paper, GPT-J and LLaMA, or (m, m + half) as in GPT-NeoX");
    f("fraction", fraction, "share of each head that turns; the rest stays as it is", Range{0, 1, true, false});
  }
};

class Rope final : public Position {
 public:
  explicit Rope(const RopeParameters& parameters) : parameters_(parameters) {}

  std::pair<Value, Value> rotate(const PositionContext& context, Value query, Value key) const override {
    const std::int64_t rotated = rotated_width(context);
    const Turn table = turns(context, rotated / 2);
    return {turn(query, rotated, at(table, context.query_positions)),
            turn(key, rotated, at(table, context.key_positions))};
  }

 private:
  struct Turn {
    Value cosine, sine;  // [positions, pairs]
  };

  std::int64_t rotated_width(const PositionContext& context) const {
    const double rotated = parameters_.fraction * static_cast<double>(context.head_width);
    const auto whole = static_cast<std::int64_t>(std::llround(rotated));
    if (whole < 2 || whole % 2 != 0 || std::abs(rotated - static_cast<double>(whole)) > 1e-6)
      context.build.fail(
          fmt::format("position/rope: {} of the head width {} is {}, not an even number of at least 2; "
                      "choose another fraction, or another width or number of heads",
                      parameters_.fraction, context.head_width, rotated));
    return whole;
  }

  // In double on the host: angles in single precision lose digits at far positions.
  Turn turns(const PositionContext& context, std::int64_t pairs) const {
    const std::int64_t count = context.position_count;
    context.build.graph.require_constant({count, pairs});
    std::vector<double> cosine, sine;
    for (std::int64_t position = 0; position < count; ++position) {
      for (std::int64_t m = 0; m < pairs; ++m) {
        const double exponent = -static_cast<double>(m) / static_cast<double>(pairs);
        const double angle = static_cast<double>(position) * std::pow(parameters_.base, exponent);
        cosine.push_back(std::cos(angle));
        sine.push_back(std::sin(angle));
      }
    }
    Graph& graph = context.build.graph;
    return {graph.constant({count, pairs}, std::move(cosine)), graph.constant({count, pairs}, std::move(sine))};
  }

  static Turn at(const Turn& table, Value positions) {
    return {gather(table.cosine, positions), gather(table.sine, positions)};
  }

  // x: [batch, heads, length, head_width].
  Value turn(Value x, std::int64_t rotated, const Turn& by) const {
    const Shape shape = x.shape();
    const std::int64_t pairs = rotated / 2;
    const bool interleaved = parameters_.pairing == Pairing::interleaved;
    const Value a = interleaved ? slice(x, 3, 0, rotated, 2) : slice(x, 3, 0, pairs);
    const Value b = interleaved ? slice(x, 3, 1, rotated, 2) : slice(x, 3, pairs, rotated);
    const Value first = a * by.cosine - b * by.sine;
    const Value second = b * by.cosine + a * by.sine;
    const Value turned = interleaved ? interleave(first, second) : concat({first, second}, 3);
    if (rotated == shape[3]) return turned;
    return concat({turned, slice(x, 3, rotated, shape[3])}, 3);
  }

  // a0 b0 a1 b1 ... along the last axis.
  static Value interleave(Value a, Value b) {
    Shape apart = a.shape(), joined = a.shape();
    apart.push_back(1);
    joined[3] *= 2;
    return reshape(concat({reshape(a, apart), reshape(b, apart)}, 4), joined);
  }

  RopeParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Position, jari::Rope, jari::RopeParameters>(
      "rope", "turns queries and keys by an angle that grows with position");
}
