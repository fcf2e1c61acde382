#pragma once
// Elementary functions of f32 without branches or calls, so that the compiler vectorizes the loops around them; and the
// reductions of a row. The f64 overloads are the standard library's: f64 is for reference runs.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace jari::cpu {

// e^x within 2 units in the last place. Results below the smallest normal number (x < -87.34) are 0, as is e^-infinity.
// Range reduction and coefficients as in Cephes' expf (Moshier 1992).
inline float exponential(float x) {
  constexpr float kLowest = -87.3365448f, kHighest = 88.7228394f;
  constexpr float kRound = 0x1.8p23f;  // adding it rounds to an integer, kept in the low bits
  const float clamped = x < kLowest ? kLowest : (x > kHighest ? kHighest : x);
  const float shifted = clamped * 1.44269504088896341f + kRound;
  const float power = shifted - kRound;
  const float rest = (clamped - power * 0.693359375f) - power * -2.12194440e-4f;
  float polynomial = 1.9875691500e-4f;
  polynomial = polynomial * rest + 1.3981999507e-3f;
  polynomial = polynomial * rest + 8.3334519073e-3f;
  polynomial = polynomial * rest + 4.1665795894e-2f;
  polynomial = polynomial * rest + 1.6666665459e-1f;
  polynomial = polynomial * rest + 5.0000001201e-1f;
  polynomial = polynomial * (rest * rest) + rest + 1.0f;
  const std::uint32_t exponent = std::bit_cast<std::uint32_t>(shifted) << 23;
  float result = std::bit_cast<float>(std::bit_cast<std::uint32_t>(polynomial) + exponent);
  result = x < kLowest ? 0.0f : result;
  result = x > kHighest ? std::numeric_limits<float>::infinity() : result;
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

// As many elements as a vector register holds, for the loops that must keep such in registers.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T>
struct VectorOf {
  using type __attribute__((vector_size(kVectorBytes))) = T;
  static constexpr int lanes = kVectorBytes / sizeof(T);
};
template <class T>
using Vector = typename VectorOf<T>::type;

template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> vector;
  __builtin_memcpy(&vector, from, sizeof(vector));
  return vector;
}

template <class T>
inline void store(T* to, Vector<T> vector) {
  __builtin_memcpy(to, &vector, sizeof(vector));
}

// Four accumulators' lanes are added in a fixed order, so a row's sum depends on its length alone.
template <class T>
inline T sum_of_lanes(Vector<T> vector) {
  constexpr int lanes = VectorOf<T>::lanes;
  T partial[lanes];
  store(partial, vector);
  for (int width = lanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) partial[i] += partial[i + width];
  }
  return partial[0];
}

// The largest element, at least `lowest`. A NaN may be passed over: it shows in the sum.
template <class T>
inline T largest(const T* row, std::int64_t count, T lowest) {
  constexpr int lanes = VectorOf<T>::lanes;
  Vector<T> best = Vector<T>{} + lowest;
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vector<T> next = load(row + i);
    best = next > best ? next : best;
  }
  T result = lowest;
  for (; i < count; ++i) result = row[i] > result ? row[i] : result;
  for (int lane = 0; lane < lanes; ++lane) result = best[lane] > result ? best[lane] : result;
  return result;
}

// The sum of `term(i)` for i in [0, count), by lanes.
template <class T, class Term>
inline T sum_of(std::int64_t count, const Term& term) {
  constexpr int lanes = VectorOf<T>::lanes;
  T partial[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (int lane = 0; lane < lanes; ++lane) partial[lane] += term(i + lane);
  }
  for (int lane = 0; i < count; ++i, ++lane) partial[lane] += term(i);
  for (int width = lanes / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) partial[lane] += partial[lane + width];
  }
  return partial[0];
}

}  // namespace jari::cpu
