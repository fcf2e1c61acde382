// A trained bias for each signed offset, added to the scores: bias[i, j] = table[j - i + max_length - 1]. The additive
// form of relative attention, without T5's buckets (Raffel and others 2020).
//
// Offsets that training never met keep their first value. With zeros this hurts: training pushes the others down, so
// far tokens soak up attention at greater lengths. `unseen` says what such offsets get.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

enum class Unseen { init, clamp, mask };
inline const auto& enum_names(Unseen) {
  static const EnumNames<Unseen> names{{Unseen::init, "init"}, {Unseen::clamp, "clamp"}, {Unseen::mask, "mask"}};
  return names;
}

struct RelParameters {
  std::int64_t max_length = 0;
  bool per_head = true;
  Unseen unseen = Unseen::init;
  Slot<Init> init{"zeros"};
  template <class F>
  void fields(F& f) {
    f("max_length", max_length, "the table has 2 max_length - 1 offsets", required, at_least(1), unit("tokens"));
    f("per_head", per_head, "a table for each head; otherwise all heads share one");
    f("unseen", unseen,
      "offsets beyond the trained length: their first values, the bias of the farthest trained offset, or out of "
      "sight");
    f("init", init, "first values of the table");
  }
};

class Rel final : public Position {
 public:
  explicit Rel(const RelParameters& parameters) : parameters_(parameters) {}

  std::optional<Value> bias(const PositionContext& context, Value, Value) const override {
    Graph& graph = context.build.graph;
    check_length(context);
    const std::int64_t size = 2 * parameters_.max_length - 1;
    const Value offset = offsets(context);  // [length, keys]
    const Value farthest = graph.constant_i32({}, {reach(context) - 1});
    const Value nearest = graph.constant_i32({}, {1 - reach(context)});
    const Value known = minimum(maximum(offset, nearest), farthest);
    const Value bias = look_up(context, size, known + graph.constant_i32({}, {parameters_.max_length - 1}));
    if (parameters_.unseen != Unseen::mask) return bias;
    return select(equal(offset, known), bias, graph.constant(-std::numeric_limits<double>::infinity()));
  }

 private:
  void check_length(const PositionContext& context) const {
    const std::int64_t length = std::max(context.position_count, context.build.length);
    if (parameters_.unseen != Unseen::init || length <= parameters_.max_length) return;
    context.build.fail(
        fmt::format("position/rel: length {} is over max_length {}; raise max_length, evaluate at most {} "
                    "tokens, or set unseen: clamp (or mask)",
                    length, parameters_.max_length, parameters_.max_length));
  }

  // Offsets with |offset| < reach are looked up as they are.
  std::int64_t reach(const PositionContext& context) const {
    const std::int64_t trained = context.build.trained_length;
    if (parameters_.unseen == Unseen::init || trained == 0) return parameters_.max_length;
    return std::min(parameters_.max_length, trained);
  }

  // ids: i32 [length, keys] -> [length, keys], or [heads, length, keys].
  Value look_up(const PositionContext& context, std::int64_t size, Value ids) const {
    const Initializer init = parameters_.init.shared();
    if (!parameters_.per_head || context.heads == 1)
      return gather(context.build.parameter("table", {size}, init, {"offset"}), ids);
    const Value table = context.build.parameter("table", {context.heads, size}, init, {"head", "offset"});
    std::vector<std::int64_t> starts;
    for (std::int64_t head = 0; head < context.heads; ++head) starts.push_back(head * size);
    const Value start = context.build.graph.constant_i32({context.heads, 1, 1}, starts);
    return gather(reshape(table, {context.heads * size}), ids + start);
  }

  RelParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Position, jari::Rel, jari::RelParameters>(
      "rel", "a trained bias for each signed offset, added to the scores");
}
