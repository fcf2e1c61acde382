#pragma once
// How a curve looks: color, line, marker. One fixed look for each positional scheme, in every picture and page, told
// apart by people with any color vision (Okabe and Ito 2008, "Color universal design"), and in print by line and
// marker.

#include <cstddef>
#include <string>
#include <string_view>

namespace jari {

struct Tone {
  std::string color;  // "#0072B2"
  int dash = 1;       // 1 solid, 2 dashed, 3 dotted, 4 dash and dot
  int marker = 0;     // 0 circle, 1 square, 2 triangle, 3 diamond, 4 triangle upside down, 5 pentagon; filled

  bool operator==(const Tone&) const = default;
};

// Of a scheme by its type ("rope"). A type that the table lacks takes a tone from a hash of its name, the same always.
Tone scheme_tone(std::string_view type);

// Of the n-th value of any other key, from 0. They repeat after 32.
Tone ordinal_tone(std::size_t place);

// The `variant`-th (from 0) of several curves of one color: another line and marker.
Tone variant_of(Tone tone, std::size_t variant);

}  // namespace jari
