#pragma once
// Family `position`: how a model knows where a token stands. A scheme overrides the hooks that it needs; attention
// knows only the optional additive bias.

#include <optional>
#include <utility>

#include "framework/component/build_context.hpp"

namespace jari {

struct PositionContext {
  const BuildContext& build;
  std::int64_t width = 0;  // of an embedding
  std::int64_t heads = 1;
  std::int64_t head_width = 0;  // of a head's query and key
  bool causal = false;
  // Positions are in [0, position_count): what a table of positions must cover. Above the length of the sequence only
  // where a scheme places tokens further apart than they stand.
  std::int64_t position_count = 0;
  Value query_positions;  // i32 [length], after the hook `positions`
  Value key_positions;    // i32 [keys]
};

class Position {
 public:
  static constexpr const char* kFamily = "position";
  virtual ~Position() = default;

  // Position ids, i32 [length]; the default is 0, 1, 2 ...
  virtual Value positions(const PositionContext& context) const;

  // x: [batch, length, width] -> the same shape, with positions added. Also called on [1, length, width] of zeros.
  virtual Value embed(const PositionContext& context, Value x) const;
  virtual bool embeds() const { return false; }  // whether `embed` does anything

  // query, key: [batch, heads, length, head_width] -> the same shapes, rotated.
  virtual std::pair<Value, Value> rotate(const PositionContext& context, Value query, Value key) const;

  // Added to the scaled scores: [length, keys] or [heads, length, keys].
  virtual std::optional<Value> bias(const PositionContext& context, Value query, Value key) const;

  // Tells a scheme that can not place tokens without a causal mask (as `none`) from the others.
  virtual bool knows_order() const { return true; }
};

// What a model hands to the hooks of its scheme, the hook `positions` already called.
PositionContext place(const BuildContext& build, const Position& scheme, std::int64_t width, std::int64_t heads = 1,
                      bool causal = false);

// key position - query position, i32 [length, keys].
Value offsets(const PositionContext& context);

// What a scheme's hook `embed` adds to zeros, [length, width] with the length of `build`; an invalid Value if it adds
// nothing.
Value embedded_zeros(const BuildContext& build, const Position& scheme, std::int64_t width);

// What a scheme's hook `bias` gives for queries and keys of zeros, [heads or 1, length, length] with the length of
// `build`; an invalid Value if it gives nothing. Where a bias depends on what tokens say, this is only its part that
// does not.
Value bias_of_zeros(const BuildContext& build, const Position& scheme, std::int64_t width, std::int64_t heads,
                    bool causal);

}  // namespace jari
