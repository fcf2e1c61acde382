#pragma once
// Elementary functions of f32 without branches or calls, so that the compiler vectorizes the loops around them (this
// layer is compiled with -fno-trapping-math, without which it does not). The f64 overloads are the standard library's:
// f64 is for reference runs.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace jari::cpu {

inline constexpr float kLowestExponent = -87.3365448f, kHighestExponent = 88.7228394f;

// e^x for x between the two, within 2 units in the last place; any number for other x. F: float or a vector of them;
// Bits: integers of the same size. Range reduction and coefficients as in Cephes' expf (Moshier 1992).
template <class F, class Bits>
F exponential_in_range(F x) {
  constexpr float kRound = 0x1.8p23f;  // adding it rounds to an integer, kept in the low bits
  const F shifted = x * 1.44269504088896341f + kRound;
  const F power = shifted - kRound;
  const F rest = (x - power * 0.693359375f) - power * -2.12194440e-4f;
  F polynomial = 1.9875691500e-4f * rest + 1.3981999507e-3f;
  polynomial = polynomial * rest + 8.3334519073e-3f;
  polynomial = polynomial * rest + 4.1665795894e-2f;
  polynomial = polynomial * rest + 1.6666665459e-1f;
  polynomial = polynomial * rest + 5.0000001201e-1f;
  polynomial = polynomial * (rest * rest) + rest + 1.0f;
  const Bits exponent = __builtin_bit_cast(Bits, shifted) << 23;
  return __builtin_bit_cast(F, __builtin_bit_cast(Bits, polynomial) + exponent);
}

// e^x for all x. Results below the smallest normal number (x < -87.34) are 0, as is e^-infinity.
inline float exponential(float x) {
  const float clamped = x < kLowestExponent ? kLowestExponent : (x > kHighestExponent ? kHighestExponent : x);
  float result = exponential_in_range<float, std::uint32_t>(clamped);
  result = x < kLowestExponent ? 0.0f : result;
  result = x > kHighestExponent ? std::numeric_limits<float>::infinity() : result;
  return x == x ? result : x;
}

inline double exponential(double x) { return std::exp(x); }

// tanh x within 3 units in the last place: an odd polynomial near 0, (e^2x - 1) / (e^2x + 1) elsewhere (Cephes' tanhf).
inline float hyperbolic_tangent(float x) {
  const float magnitude = std::fabs(x), squared = x * x;
  float polynomial = -5.70498872745e-3f;
  polynomial = polynomial * squared + 2.06390887954e-2f;
  polynomial = polynomial * squared - 5.37397155531e-2f;
  polynomial = polynomial * squared + 1.33314422036e-1f;
  polynomial = polynomial * squared - 3.33332819422e-1f;
  const float near_zero = polynomial * squared * x + x;
  const float elsewhere = std::copysign(1.0f - 2.0f / (exponential(2.0f * magnitude) + 1.0f), x);
  return magnitude < 0.625f ? near_zero : elsewhere;
}

inline double hyperbolic_tangent(double x) { return std::tanh(x); }

// GPT-2's gelu (Hendrycks and Gimpel 2016): the share of x that it lets through, (1 + tanh u) / 2, which is the
// logistic function of 2 u; and from that its value and its slope.
template <class T>
T gelu_share(T x) {
  constexpr T kScale = static_cast<T>(-2 * 0.79788456080286535588), kCubic = static_cast<T>(0.044715);  // sqrt(2 / pi)
  return T(1) / (T(1) + exponential(kScale * (x + kCubic * x * x * x)));
}

template <class T>
T gelu(T x, T share) {
  return x * share;
}

template <class T>
T gelu_slope(T x, T share) {
  constexpr T kScale = static_cast<T>(2 * 0.79788456080286535588), kCubic = static_cast<T>(3 * 0.044715);
  return share + x * share * (T(1) - share) * kScale * (T(1) + kCubic * x * x);
}

// log(1 + e) for e in [0, 1], within 2 units in the last place of log 2: 2 atanh(z), z = e / (2 + e), by its series.
inline float log_of_one_and(float e) {
  const float z = e / (2.0f + e), squared = z * z;
  float series = 1.0f / 13;
  series = series * squared + 1.0f / 11;
  series = series * squared + 1.0f / 9;
  series = series * squared + 1.0f / 7;
  series = series * squared + 1.0f / 5;
  series = series * squared + 1.0f / 3;
  return 2.0f * z * (series * squared + 1.0f);
}

inline double log_of_one_and(double e) { return std::log1p(e); }

}  // namespace jari::cpu
