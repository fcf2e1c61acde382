#include "framework/component/numpy_random.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace jari {

namespace {

// -- SeedSequence: hashes the seed into a pool of four words, and the pool into as many words as are asked for.

std::uint32_t hash_step(std::uint32_t value, std::uint32_t& constant, std::uint32_t multiplier) {
  value ^= constant;
  constant *= multiplier;
  value *= constant;
  return value ^ (value >> 16);
}

std::uint32_t mix(std::uint32_t left, std::uint32_t right) {
  const std::uint32_t result = 0xca01f9ddu * left - 0x4973f715u * right;
  return result ^ (result >> 16);
}

std::array<std::uint64_t, 4> seed_words(std::uint64_t seed) {
  constexpr std::uint32_t kPoolMultiplier = 0x931e8875u, kStateMultiplier = 0x58f38dedu;
  std::array<std::uint32_t, 4> pool = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), 0, 0};
  std::uint32_t constant = 0x43b0d7e5u;
  for (std::uint32_t& word : pool) word = hash_step(word, constant, kPoolMultiplier);
  for (std::size_t from = 0; from < 4; ++from)
    for (std::size_t to = 0; to < 4; ++to)
      if (from != to) pool[to] = mix(pool[to], hash_step(pool[from], constant, kPoolMultiplier));

  std::array<std::uint64_t, 4> words{};
  constant = 0x8b51f9ddu;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint64_t half = hash_step(pool[i % 4], constant, kStateMultiplier);
    words[i / 2] |= i % 2 == 0 ? half : half << 32;
  }
  return words;
}

// -- Ziggurat: 256 layers of equal area under exp(-x^2 / 2).

constexpr double kTailStart = 3.6541528853610087963519472518;  // right edge of the lowest layer

struct Ziggurat {
  // A draw of 52 bits times `width` is x; below `inside` it lies in the layer for sure; `height` is the curve at the
  // edge.
  std::array<double, 256> width, height;
  std::array<std::uint64_t, 256> inside;
};

// Rounded from long double, so that the tables do not hang on the last bit of the platform's libm.
double curve(double x) { return static_cast<double>(std::exp(static_cast<long double>(-0.5 * x * x))); }
double logarithm(double x) { return static_cast<double>(std::log(static_cast<long double>(x))); }

// The recurrence of Marsaglia and Tsang, in double as NumPy's tables were made; bit-equal to them.
Ziggurat make_ziggurat() {
  constexpr double kArea = 0x1.43016a5a4372ep-8;  // of a layer
  constexpr double kScale = 0x1p52;
  Ziggurat table{};
  const double base = kArea / curve(kTailStart);  // width of the lowest layer, had it no tail
  table.width[0] = base / kScale;
  table.height[0] = 1;
  table.inside[0] = static_cast<std::uint64_t>(std::nearbyint(kTailStart / base * kScale));
  table.width[255] = kTailStart / kScale;
  table.height[255] = curve(kTailStart);
  table.inside[1] = 0;
  double outer = kTailStart;
  for (std::size_t i = 254; i >= 1; --i) {
    const double x = std::sqrt(-2 * logarithm(kArea / outer + table.height[i + 1]));
    table.inside[i + 1] = static_cast<std::uint64_t>(std::nearbyint(x / outer * kScale));
    table.width[i] = x / kScale;
    table.height[i] = curve(x);
    // The one entry where the exponential that made NumPy's tables was not rounded to nearest.
    if (i == 38) table.height[i] = std::nextafter(table.height[i], 1.0);
    outer = x;
  }
  return table;
}

const Ziggurat& ziggurat() {
  static const Ziggurat table = make_ziggurat();
  return table;
}

}  // namespace

NumpyRandom::NumpyRandom(std::uint64_t seed) {
  const std::array<std::uint64_t, 4> words = seed_words(seed);
  increment_ = (((Word128{words[2]} << 64) | words[3]) << 1) | 1;
  advance();
  state_ += (Word128{words[0]} << 64) | words[1];
  advance();
}

void NumpyRandom::advance() {
  constexpr Word128 kMultiplier = (Word128{2549297995355413924u} << 64) | 4865540595714422341u;
  state_ = state_ * kMultiplier + increment_;
}

std::uint64_t NumpyRandom::next() {
  advance();
  const auto high = static_cast<std::uint64_t>(state_ >> 64), low = static_cast<std::uint64_t>(state_);
  return std::rotr(high ^ low, static_cast<int>(high >> 58));
}

double NumpyRandom::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double NumpyRandom::standard_normal() {
  const Ziggurat& table = ziggurat();
  for (;;) {
    const std::uint64_t bits = next();
    const std::size_t layer = bits & 0xff;
    const bool negative = (bits >> 8) & 1;
    const std::uint64_t magnitude = (bits >> 9) & 0x000fffffffffffffu;
    const double size = static_cast<double>(magnitude) * table.width[layer];
    const double x = negative ? -size : size;
    if (magnitude < table.inside[layer]) return x;
    if (layer == 0) return normal_tail((magnitude >> 8) & 1);
    const double height = (table.height[layer - 1] - table.height[layer]) * uniform() + table.height[layer];
    if (height < std::exp(-0.5 * x * x)) return x;
  }
}

// Beyond the lowest layer: Marsaglia's exponential rejection.
double NumpyRandom::normal_tail(bool negative) {
  constexpr double kInverseTailStart = 0.27366123732975827203338247596;
  for (;;) {
    const double beyond = -kInverseTailStart * std::log1p(-uniform());
    const double exponential = -std::log1p(-uniform());
    if (exponential + exponential > beyond * beyond) return negative ? -(kTailStart + beyond) : kTailStart + beyond;
  }
}

}  // namespace jari
