#pragma once
// The CUDA execution model on a CPU: what tests see of it. Each thread of a block runs on a stack of its own once it
// has to wait, the threads of a block take turns, and blocks run one after another, on the OS thread that launches. So
// results do not depend on time, mistakes in the use of barriers and warp operations are named, and the sanitizers see
// all memory.
//
// Not emulated: blocks that wait for each other (a kernel that spins hangs), memory order weaker than sequential, the
// sizes of registers and caches, instruction-level rounding (contraction, fast intrinsics).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_extent = 1, unsigned y_extent = 1, unsigned z_extent = 1)
      : x(x_extent), y(y_extent), z(z_extent) {}
};

// CUDA's names. Valid inside a kernel; the emulation sets them whenever another thread of the block goes on.
inline constinit thread_local uint3 threadIdx{}, blockIdx{};
inline constinit thread_local dim3 blockDim{}, gridDim{};

namespace simt {

// A kernel did what CUDA forbids, or a launch asks for what a GPU would refuse. The text names what, the block, the
// threads and their places in the source.
class EmulationError : public jari::Error {
 public:
  using Error::Error;
};

// In which order the blocks of a grid, the warps of a block and the lanes of a warp take their turns. A warp goes on
// until all of its lanes wait for the whole block, so that a warp that is not held back by a barrier runs far ahead.
enum class ThreadOrder { forward, reverse, random };

// For all launches from now on, of all OS threads; to be set while none is running. `seed` matters to `random` alone.
void set_thread_order(ThreadOrder order, std::uint64_t seed = 0);

// What a stream does: at once what is enqueued, or, while it is capturing, nothing but keep it for `replay`.
struct EmulatedStream {
  bool capturing = false;
  std::vector<std::function<void()>> recorded;

  void enqueue(std::function<void()> work);
  void replay() const;  // what is recorded, in order; as often as wanted
};

using Stream = EmulatedStream*;  // nullptr: at once

// What a launch is, once the types of its arguments are forgotten.
struct Launch {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  std::function<void()> thread;  // calls the kernel
};

// Throws EmulationError if a GPU would refuse the shape. `enqueue` checks too.
void check_shape(const Launch& launch);
void enqueue(Launch launch, Stream stream);

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t dynamic_shared_bytes, Stream stream,
            Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "a kernel is launched with one argument for each parameter");
  static_assert((std::is_trivially_copyable_v<Parameters> && ...), "a kernel's parameters are copied as bytes");
  std::tuple<Parameters...> values{arguments...};
  enqueue({grid, block, dynamic_shared_bytes, [kernel, values] { std::apply(kernel, values); }}, stream);
}

// What jari_simt.hpp is made of.

struct Place {
  const char* file = nullptr;
  unsigned line = 0;
};

enum class WarpOperation { kSync, kShuffle, kShuffleXor, kShuffleDown, kShuffleUp, kBallot, kAny, kAll };

// Both wait as CUDA's __syncthreads and warp operations do. `source` is the lane that a shuffle reads. Returns the bits
// that a shuffle read, or the lanes whose `value` is not 0.
void wait_for_block(Place place);
std::uint64_t wait_for_warp(WarpOperation operation, unsigned mask, std::uint64_t value, unsigned source, Place place);
unsigned current_lane();

// The block's array that belongs to the declaration at `key`, made when a thread first comes by. Filled with 0xFF,
// which is NaN in every float format: nobody may count on zeros.
void* static_shared(const void* key, std::size_t bytes);
void* dynamic_shared();

template <class Array>
Array& static_shared_array(const void* key) {
  static_assert(std::is_trivially_default_constructible_v<Array>, "shared memory has no constructors");
  static_assert(alignof(Array) <= alignof(std::max_align_t));
  return *static_cast<Array*>(static_shared(key, sizeof(Array)));
}

}  // namespace simt
