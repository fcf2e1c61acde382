#pragma once
// Products of matrices within larger kernels, exact or in bf16 behind one interface. A right operand is made ready
// once, for as many products as take it or its first rows and columns.

#include <algorithm>
#include <cstdint>

#include "framework/backend/cpu/bf16_product.hpp"
#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/panel_product.hpp"

namespace jari::cpu {

inline std::int64_t whole_cache_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

template <class T>
struct ExactProducts {
  using Number = T;
  static constexpr std::int64_t kWideTileRows = 48;  // of a tile with thousands of columns: it is to stay in cache
  struct Right {
    Panels<T> panels;
    std::int64_t columns;  // that may be asked for: n, and zeros behind them
  };

  // Of the memory that `right` takes for [k, n].
  static std::int64_t right_bytes(std::int64_t k, std::int64_t n) {
    return whole_cache_lines(Panels<T>::size(k, n) * static_cast<std::int64_t>(sizeof(T)));
  }
  // b: [k, n].
  static Right right(Strided<T> b, std::int64_t k, std::int64_t n, void* memory) {
    T* const packed = static_cast<T*>(memory);
    pack_panels(b, k, n, packed);
    return {{packed, k}, k == 0 ? n : Panels<T>::size(k, n) / k};
  }

  // Of the memory that `multiply` takes.
  static std::int64_t left_bytes(std::int64_t, std::int64_t) { return 0; }
  // c = a b, or c += it: [m, k] x [k, n].
  static void multiply(Strided<T> a, const Right& b, T* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                       std::int64_t k, bool accumulate, void*) {
    multiply_panels<T>(a, b.panels, c, c_row, m, n, k, accumulate);
  }
};

struct Bf16Products {
  using Number = float;
  static constexpr std::int64_t kWideTileRows = 96;  // packing a right operand has to pay
  struct Right {
    Bf16Right operand;
    std::int64_t columns;
  };

  static std::int64_t right_bytes(std::int64_t k, std::int64_t n) { return bf16_right_bytes(k, n); }
  static Right right(Strided<float> b, std::int64_t k, std::int64_t n, void* memory) {
    return {pack_bf16(b, k, n, memory), n};
  }

  static std::int64_t left_bytes(std::int64_t m, std::int64_t k) { return bf16_left_bytes(m, k); }
  static void multiply(Strided<float> a, const Right& b, float* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                       std::int64_t k, bool accumulate, void* memory) {
    multiply_bf16(a, b.operand, c, c_row, m, n, k, accumulate, memory);
  }
};

// `make.template operator()<Products>()` for what the request's numbers and products are.
template <class Make>
std::unique_ptr<Kernel> for_products(const KernelRequest& request, const Make& make) {
  if (request.inputs[0].dtype == DType::f32 && request.products == Products::bf16)
    return make.template operator()<Bf16Products>();
  return for_real(request, request.inputs[0].dtype,
                  [&]<class T>() { return make.template operator()<ExactProducts<T>>(); });
}

// rows [count, n] += bias [n] + addend [count, n]; null: none.
template <class T>
void add_to_rows(T* rows, std::int64_t count, std::int64_t n, const T* bias, const T* addend) {
  for (std::int64_t i = 0; bias && i < count; ++i) {
    T* const row = rows + i * n;
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) row[j] += bias[j];
  }
  const std::int64_t size = addend ? count * n : 0;
#pragma omp simd
  for (std::int64_t i = 0; i < size; ++i) rows[i] += addend[i];
}

// out = the sum of the groups' parts, in their order: `size` numbers each, `stride` apart.
template <class T>
void add_in_order(const Workers& workers, const T* parts, std::int64_t stride, std::int64_t groups, std::int64_t size,
                  T* out) {
  for_blocks(workers, size, kBlock, [&](std::int64_t begin, std::int64_t end) {
    std::copy(parts + begin, parts + end, out + begin);
    for (std::int64_t group = 1; group < groups; ++group) {
      const T* const part = parts + group * stride;
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) out[i] += part[i];
    }
  });
}

// Memory for one block of work, handed out piece by piece.
class Pieces {
 public:
  explicit Pieces(void* memory) : next_(static_cast<std::byte*>(memory)) {}
  template <class T>
  T* numbers(std::int64_t count) {
    return static_cast<T*>(bytes(whole_cache_lines(count * static_cast<std::int64_t>(sizeof(T)))));
  }
  void* bytes(std::int64_t size) {
    std::byte* const piece = next_;
    next_ += size;
    return piece;
  }

 private:
  std::byte* next_;
};

}  // namespace jari::cpu
