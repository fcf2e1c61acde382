#pragma once
// Products of matrices within larger kernels, exact or in bf16 behind one interface. A right operand is made ready once,
// for as many products as take it or its first rows and columns.

#include <algorithm>
#include <cstdint>

#include "framework/backend/cpu/bf16_product.hpp"
#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/small_product.hpp"

namespace jari::cpu {

inline std::int64_t whole_cache_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

template <class T>
struct ExactProducts {
  using Number = T;
  struct Right {
    const T* rows;
    std::int64_t row;      // elements from row to row
    std::int64_t columns;  // that may be asked for: n, or more, which are zeros
  };

  // Of the memory that `right` takes for [k, n].
  static std::int64_t right_bytes(std::int64_t k, std::int64_t n) {
    return whole_cache_lines(k * padded(n) * static_cast<std::int64_t>(sizeof(T)));
  }
  // b: [k, n], which must stay where it is if its rows lie together.
  static Right right(Strided<T> b, std::int64_t k, std::int64_t n, void* memory) {
    if (b.column == 1) return {b.data, b.row, n};
    const std::int64_t row = padded(n);
    T* const turned = static_cast<T*>(memory);
    for (std::int64_t p = 0; p < k; ++p) std::fill(turned + p * row + n, turned + (p + 1) * row, T{0});
    for (std::int64_t j = 0; j < n; ++j) {
      const T* const column = b.data + j * b.column;
      for (std::int64_t p = 0; p < k; ++p) turned[p * row + j] = column[p * b.row];
    }
    return {turned, row, row};
  }

  // Of the memory that `multiply` takes.
  static std::int64_t left_bytes(std::int64_t, std::int64_t) { return 0; }
  // c = a b, or c += it: [m, k] x [k, n].
  static void multiply(Strided<T> a, const Right& b, T* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                       std::int64_t k, bool accumulate, void*) {
    cpu::multiply<T>(a, b.rows, b.row, c, c_row, m, n, k, T{1}, accumulate);
  }

 private:
  // Whole pairs of vectors.
  static std::int64_t padded(std::int64_t n) {
    constexpr std::int64_t kPair = 2 * kVectorLanes<T>;
    return (n + kPair - 1) / kPair * kPair;
  }
};

struct Bf16Products {
  using Number = float;
  struct Right {
    const Bf16* tiles;
    std::int64_t depth;  // k of the whole operand
    std::int64_t columns;
  };

  static std::int64_t right_bytes(std::int64_t k, std::int64_t n) {
    return whole_cache_lines(bf16_size(n, k) * static_cast<std::int64_t>(sizeof(Bf16)));
  }
  static Right right(Strided<float> b, std::int64_t k, std::int64_t n, void* memory) {
    pack_right(b, k, n, static_cast<Bf16*>(memory));
    return {static_cast<const Bf16*>(memory), k, n};
  }

  static std::int64_t left_bytes(std::int64_t m, std::int64_t k) {
    return whole_cache_lines(bf16_size(m, k) * static_cast<std::int64_t>(sizeof(Bf16)));
  }
  static void multiply(Strided<float> a, const Right& b, float* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                       std::int64_t k, bool accumulate, void* memory) {
    pack_left(a, m, k, static_cast<Bf16*>(memory));
    multiply_packed(static_cast<const Bf16*>(memory), b.tiles, b.depth, c, c_row, m, n, k, accumulate);
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
