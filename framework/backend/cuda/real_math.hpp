#pragma once
// Elementary functions of float and double in device code, and those that are made of them.

#include <cmath>

#include "framework/backend/cuda/cuda_kernel.hpp"
#include "framework/ops/softmax.hpp"

namespace jari::cuda {

__device__ inline float exponential(float x) { return expf(x); }
__device__ inline double exponential(double x) { return exp(x); }
__device__ inline float logarithm(float x) { return logf(x); }
__device__ inline double logarithm(double x) { return log(x); }
__device__ inline float logarithm_of_one_and(float x) { return log1pf(x); }
__device__ inline double logarithm_of_one_and(double x) { return log1p(x); }
__device__ inline float square_root(float x) { return sqrtf(x); }
__device__ inline double square_root(double x) { return sqrt(x); }
__device__ inline float sine(float x) { return sinf(x); }
__device__ inline double sine(double x) { return sin(x); }
__device__ inline float cosine(float x) { return cosf(x); }
__device__ inline double cosine(double x) { return cos(x); }
__device__ inline float hyperbolic_tangent(float x) { return tanhf(x); }
__device__ inline double hyperbolic_tangent(double x) { return tanh(x); }
__device__ inline float error_function(float x) { return erff(x); }
__device__ inline double error_function(double x) { return erf(x); }
__device__ inline float power(float x, float y) { return powf(x, y); }
__device__ inline double power(double x, double y) { return pow(x, y); }

template <class T>
__device__ T larger(T a, T b) {
  return a < b ? b : a;
}

// GPT-2's gelu (Hendrycks and Gimpel 2016): the tanh in it, and from that its value and its slope.
template <class T>
__device__ T gelu_tanh(T x) {
  constexpr T kScale = static_cast<T>(0.79788456080286535588), kCubic = static_cast<T>(0.044715);  // sqrt(2 / pi)
  return hyperbolic_tangent(kScale * (x + kCubic * x * x * x));
}

template <class T>
__device__ T gelu(T x, T tanh) {
  return T(0.5) * x * (T(1) + tanh);
}

template <class T>
__device__ T gelu_slope(T x, T tanh) {
  constexpr T kScale = static_cast<T>(0.79788456080286535588), kCubic = static_cast<T>(3 * 0.044715);
  return T(0.5) * (T(1) + tanh) + T(0.5) * x * (T(1) - tanh * tanh) * kScale * (T(1) + kCubic * x * x);
}

}  // namespace jari::cuda
