#include "framework/component/position.hpp"

#include "framework/base/error.hpp"

namespace jari {

Value Position::positions(const PositionContext& context) const {
  return iota(context.build.graph, context.build.length);
}

Value Position::embed(const PositionContext&, Value x) const { return x; }

std::pair<Value, Value> Position::rotate(const PositionContext&, Value query, Value key) const { return {query, key}; }

std::optional<Value> Position::bias(const PositionContext&, Value, Value) const { return std::nullopt; }

PositionContext place(const BuildContext& build, const Position& scheme, std::int64_t width, std::int64_t heads,
                      bool causal) {
  JARI_ASSERT(heads >= 1 && width % heads == 0, "heads that do not divide the width");
  PositionContext context{.build = build,
                          .width = width,
                          .heads = heads,
                          .head_width = width / heads,
                          .causal = causal,
                          .position_count = build.length,
                          .query_positions = {},
                          .key_positions = {}};
  context.query_positions = scheme.positions(context);
  context.key_positions = context.query_positions;
  return context;
}

Value offsets(const PositionContext& context) {
  const std::int64_t length = context.query_positions.shape()[0];
  const std::int64_t keys = context.key_positions.shape()[0];
  return reshape(context.key_positions, {1, keys}) - reshape(context.query_positions, {length, 1});
}

Value embedded_zeros(const BuildContext& build, const Position& scheme, std::int64_t width) {
  if (!scheme.embeds()) return {};
  const PositionContext context = place(build, scheme, width);
  const Value zeros = broadcast_to(build.graph.constant(0.0), {1, build.length, width});
  return reshape(scheme.embed(context, zeros), {build.length, width});
}

Value bias_of_zeros(const BuildContext& build, const Position& scheme, std::int64_t width, std::int64_t heads,
                    bool causal) {
  const PositionContext context = place(build, scheme, width, heads, causal);
  const Value zeros = broadcast_to(build.graph.constant(0.0), {1, heads, build.length, context.head_width});
  const std::optional<Value> bias = scheme.bias(context, zeros, zeros);
  if (!bias) return {};
  const std::int64_t tables = bias->shape().size() / (build.length * build.length);
  return reshape(*bias, {tables, build.length, build.length});
}

}  // namespace jari
