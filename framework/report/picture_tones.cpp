#include "framework/report/picture_tones.hpp"

#include <array>

#include "framework/base/hash.hpp"

namespace jari {
namespace {

constexpr int kDashes = 4, kMarkers = 6;

struct SchemeTone {
  std::string_view type;
  const char* color;
  int dash, marker;
};

// The most compared schemes have the seven colors of Okabe and Ito that can be seen on white, solid. The others have
// darker or lighter tones (after Tol 2021, "Colour schemes", muted), and lines that are not solid.
constexpr SchemeTone kSchemes[] = {
    {"none", "#666666", 3, 4},
    {"learned", "#0072B2", 1, 0},
    {"sin", "#E69F00", 1, 1},
    {"rel", "#009E73", 1, 2},
    {"rope", "#D55E00", 1, 3},
    {"alibi", "#CC79A7", 1, 4},
    {"t5", "#56B4E9", 1, 5},
    {"shaw", "#332288", 2, 0},
    {"xpos", "#882255", 2, 1},
    {"fire", "#AA4499", 2, 2},
    {"kerple", "#999933", 2, 3},
    {"randomized", "#44AA99", 2, 4},
    {"transformer_xl", "#661100", 2, 5},
    {"cope", "#117733", 3, 0},
    {"abacus", "#6699CC", 3, 1},
    {"coupled", "#888888", 3, 2},
    {"sandwich", "#AA4466", 3, 3},
    {"dape", "#4B0092", 3, 5},
    {"yarn", "#B34700", 4, 0},
    {"scaled_rope", "#E07B39", 4, 1},
    {"hybrid", "#000000", 1, 0},
};

constexpr const char* kOrdinal[] = {"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                    "#CC79A7", "#56B4E9", "#332288", "#666666"};
constexpr std::size_t kOrdinalCount = std::size(kOrdinal);

}  // namespace

Tone scheme_tone(std::string_view type) {
  for (const SchemeTone& known : kSchemes)
    if (known.type == type) return {known.color, known.dash, known.marker};
  const std::uint64_t hash = hash64(type);
  return {kOrdinal[hash % kOrdinalCount], 2 + static_cast<int>(hash / kOrdinalCount % (kDashes - 1)),
          static_cast<int>(hash / 64 % kMarkers)};
}

Tone ordinal_tone(std::size_t place) {
  const auto round = static_cast<int>(place / kOrdinalCount);
  return {kOrdinal[place % kOrdinalCount], 1 + round % kDashes, static_cast<int>(place % kMarkers)};
}

Tone variant_of(Tone tone, std::size_t variant) {
  const auto steps = static_cast<int>(variant);
  tone.dash = 1 + (tone.dash - 1 + steps) % kDashes;
  tone.marker = (tone.marker + steps) % kMarkers;
  return tone;
}

}  // namespace jari
