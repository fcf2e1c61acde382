// T5's relative positions (Raffel and others 2020, "Exploring the limits of transfer learning with a unified
// text-to-text transformer"): a trained bias for each head and bucket of offsets. Near offsets have a bucket each,
// those up to `max_distance` share buckets that widen by equal ratios, all beyond share the last one. Layers share the
// table.
//
// Causal models give all buckets to what stands before the query. Others give half of them to each side; the first
// bucket of the right half would be offset 0, which is the left half's: its number is never used, as in the original.
// T5 does not divide scores by sqrt(head_width); here attention does, so a bias weighs that much more.

#include <cmath>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct T5Parameters {
  std::int64_t buckets = 32;
  std::int64_t max_distance = 128;
  std::optional<Slot<Init>> init;
  template <class F>
  void fields(F& f) {
    f("buckets", buckets, "rows of the table; half of them for each side where a model sees both ways",
      between(4, 4096));
    f("max_distance", max_distance, "from here on all offsets of a side share one bucket", at_least(2), unit("tokens"));
    f("init", init, "first values of the table; by default N(0, 1 / width)");
  }
  void check(FieldChecks& checks) const {
    if (buckets % 4 != 0)
      checks.error("buckets", "not a multiple of 4", "half of the buckets are for near offsets, of each side");
    if (max_distance <= buckets / 2)
      checks.error("max_distance", "the near offsets reach further", "give more than half of `buckets`");
  }
};

// Of an offset into one side, 0 or more.
std::int64_t bucket_of(std::int64_t distance, std::int64_t buckets, std::int64_t max_distance) {
  const std::int64_t near = buckets / 2;
  if (distance < near) return distance;
  const double ratio = std::log(static_cast<double>(distance) / static_cast<double>(near)) /
                       std::log(static_cast<double>(max_distance) / static_cast<double>(near));
  return std::min(buckets - 1, near + static_cast<std::int64_t>(ratio * static_cast<double>(buckets - near)));
}

class T5 final : public Position {
 public:
  explicit T5(const T5Parameters& parameters) : parameters_(parameters) {}

  std::optional<Value> bias(const PositionContext& context, Value, Value) const override {
    Graph& graph = context.build.graph;
    const double deviation = 1 / std::sqrt(static_cast<double>(context.width));
    const Initializer init = parameters_.init ? parameters_.init->shared() : normal(deviation);
    const Value table =
        context.build.parameter("table", {parameters_.buckets, context.heads}, init, {"bucket", "head"});
    const std::int64_t reach = context.position_count;
    graph.require_constant({2 * reach - 1});
    const Value by_offset = gather(table, graph.constant_i32({2 * reach - 1}, buckets(context)));
    const Value rows = offsets(context) + graph.constant_i32({}, {reach - 1});  // [length, keys]
    return permute(gather(by_offset, rows), {2, 0, 1});
  }

 private:
  // Of the offsets 1 - reach to reach - 1.
  std::vector<std::int64_t> buckets(const PositionContext& context) const {
    const std::int64_t reach = context.position_count;
    const std::int64_t each = context.causal ? parameters_.buckets : parameters_.buckets / 2;
    std::vector<std::int64_t> result;
    for (std::int64_t offset = 1 - reach; offset < reach; ++offset) {
      const bool is_right = offset > 0;
      if (context.causal) {
        result.push_back(bucket_of(is_right ? 0 : -offset, each, parameters_.max_distance));
      } else {
        result.push_back((is_right ? each : 0) + bucket_of(std::abs(offset), each, parameters_.max_distance));
      }
    }
    return result;
  }

  T5Parameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Position, jari::T5, jari::T5Parameters>(
      "t5", "a trained bias for each bucket of offsets, wider buckets farther away");
}
