#pragma once
// The execution model that kernels are written for, emulated: the counterpart of
// framework/backend/cuda/simt/jari_simt.hpp, with the same names. A kernel source says `#include <jari_simt.hpp>` and
// is compiled as C++ (`-x c++`). What a kernel may use is what stands here; the rest of CUDA is missing on purpose, so
// that a source which compiles here is also tested here.

#include <math.h>  // CUDA has fmaxf, expf ... in the global namespace

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/cuda/emulation/emulation.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

#define JARI_GRID_CONSTANT const

// The key is one for each declaration, and one for each instance of a template.
#define JARI_SHARED(T, name, N)   \
  static const char name##_key{}; \
  T(&name)[N] = ::simt::static_shared_array<T[N]>(&name##_key)
#define JARI_DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(::simt::dynamic_shared())

// Where a kernel calls, without a macro: default arguments are evaluated there. (Not inside a braced Place: GCC then
// gives this header's line.)
#define JARI_EMULATION_CALLER const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()

inline void __syncthreads(JARI_EMULATION_CALLER) { ::simt::wait_for_block({file, line}); }

inline void __syncwarp(unsigned mask = 0xffffffffu, JARI_EMULATION_CALLER) {
  ::simt::wait_for_warp(::simt::WarpOperation::kSync, mask, 0, 0, {file, line});
}

namespace simt {

template <class T>
T shuffle(WarpOperation operation, unsigned mask, T value, unsigned source, Place place) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "a shuffle moves numbers of 4 or 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = wait_for_warp(operation, mask, bits, source, place);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// `width`, a power of two up to 32, cuts the warp into segments of their own; this is the first lane of `lane`'s.
inline unsigned segment_begin(unsigned lane, int width) { return lane & ~(static_cast<unsigned>(width) - 1); }

}  // namespace simt

// CUDA C++ Programming Guide, "Warp Shuffle Functions": a source outside of the lane's segment means the lane itself;
// but
// __shfl_sync wraps around, and __shfl_xor_sync may read the segments before.

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, JARI_EMULATION_CALLER) {
  const unsigned begin = ::simt::segment_begin(::simt::current_lane(), width);
  const unsigned lane = begin + (static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1));
  return ::simt::shuffle(::simt::WarpOperation::kShuffle, mask, value, lane, {file, line});
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, JARI_EMULATION_CALLER) {
  const unsigned lane = ::simt::current_lane();
  unsigned source = lane ^ static_cast<unsigned>(lane_mask);
  if (::simt::segment_begin(source, width) > ::simt::segment_begin(lane, width)) source = lane;
  return ::simt::shuffle(::simt::WarpOperation::kShuffleXor, mask, value, source, {file, line});
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32, JARI_EMULATION_CALLER) {
  const unsigned lane = ::simt::current_lane();
  unsigned source = lane + distance;
  if (::simt::segment_begin(source, width) != ::simt::segment_begin(lane, width)) source = lane;
  return ::simt::shuffle(::simt::WarpOperation::kShuffleDown, mask, value, source, {file, line});
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32, JARI_EMULATION_CALLER) {
  const unsigned lane = ::simt::current_lane();
  unsigned source = lane - distance;
  if (::simt::segment_begin(source, width) != ::simt::segment_begin(lane, width)) source = lane;
  return ::simt::shuffle(::simt::WarpOperation::kShuffleUp, mask, value, source, {file, line});
}

inline unsigned __ballot_sync(unsigned mask, int predicate, JARI_EMULATION_CALLER) {
  return static_cast<unsigned>(
      ::simt::wait_for_warp(::simt::WarpOperation::kBallot, mask, predicate != 0, 0, {file, line}));
}
inline int __any_sync(unsigned mask, int predicate, JARI_EMULATION_CALLER) {
  return ::simt::wait_for_warp(::simt::WarpOperation::kAny, mask, predicate != 0, 0, {file, line}) != 0;
}
inline int __all_sync(unsigned mask, int predicate, JARI_EMULATION_CALLER) {
  return ::simt::wait_for_warp(::simt::WarpOperation::kAll, mask, predicate != 0, 0, {file, line}) == mask;
}

// Atomics order nothing but themselves, as CUDA's.
namespace simt {

template <class T, class Change>
T change_atomically(T* address, Change changed) {
  std::atomic_ref<T> target(*address);
  T before = target.load(std::memory_order_relaxed);
  while (!target.compare_exchange_weak(before, changed(before), std::memory_order_relaxed)) {
  }
  return before;
}

template <class T, class... Types>
concept OneOf = (std::is_same_v<T, Types> || ...);

}  // namespace simt

template <::simt::OneOf<int, unsigned, unsigned long long, float, double> T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_add(value, std::memory_order_relaxed);
}
template <::simt::OneOf<int, unsigned> T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return ::simt::change_atomically(address, [value](T before) { return before < value ? value : before; });
}
template <::simt::OneOf<int, unsigned> T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return ::simt::change_atomically(address, [value](T before) { return value < before ? value : before; });
}
template <::simt::OneOf<int, unsigned> T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, value, std::memory_order_relaxed);
  return expected;  // what was there
}

template <class T>
T __ldg(const T* address) {
  return *address;
}

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }

#undef JARI_EMULATION_CALLER
