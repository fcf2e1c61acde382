// What the machine says when a kernel is wrong.
#include <fmt/format.h>

#include <bit>

#include "tests/cuda/emulation/machine.hpp"

namespace simt {
namespace {

constexpr std::size_t kKibibyte = 1024;
// Without asking (cudaFuncAttributeMaxDynamicSharedMemorySize), static and dynamic together; simt::launch asks if the
// dynamic part alone is larger. Static arrays can never be larger. With asking: compute capability 9.0 and 10.0.
constexpr std::size_t kSharedBytesUnasked = 48 * kKibibyte, kSharedBytes = 227 * kKibibyte;

const char* name_of(WarpOperation operation) {
  switch (operation) {
    case WarpOperation::kSync:
      return "__syncwarp";
    case WarpOperation::kShuffle:
      return "__shfl_sync";
    case WarpOperation::kShuffleXor:
      return "__shfl_xor_sync";
    case WarpOperation::kShuffleDown:
      return "__shfl_down_sync";
    case WarpOperation::kShuffleUp:
      return "__shfl_up_sync";
    case WarpOperation::kBallot:
      return "__ballot_sync";
    case WarpOperation::kAny:
      return "__any_sync";
    case WarpOperation::kAll:
      return "__all_sync";
  }
  return "";
}

[[noreturn]] void refuse(const std::string& reason) {
  throw EmulationError("a GPU would refuse this launch: " + reason);
}

std::string text_of(dim3 extents) { return fmt::format("({},{},{})", extents.x, extents.y, extents.z); }

}  // namespace

void check_shape(const Launch& launch) {
  const dim3 grid = launch.grid, block = launch.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) refuse(fmt::format("the grid {} has no blocks", text_of(grid)));
  if (block.x == 0 || block.y == 0 || block.z == 0) refuse(fmt::format("the block {} has no threads", text_of(block)));
  if (grid.x > 2147483647u) refuse(fmt::format("the grid {} has more than 2147483647 blocks in x", text_of(grid)));
  if (grid.y > 65535 || grid.z > 65535) {
    refuse(fmt::format("the grid {} has more than 65535 blocks in y or z", text_of(grid)));
  }
  if (block.z > 64) refuse(fmt::format("the block {} has more than 64 threads in z", text_of(block)));
  const std::uint64_t plane = std::uint64_t{block.x} * block.y;
  if (plane > kMaximumThreads || plane * block.z > kMaximumThreads) {
    refuse(fmt::format("the block {} has more than {} threads", text_of(block), kMaximumThreads));
  }
  if (launch.dynamic_shared_bytes > kSharedBytes) {
    refuse(fmt::format("{} bytes of dynamic shared memory, a block has {}", launch.dynamic_shared_bytes, kSharedBytes));
  }
}

void Machine::check_shared_bytes() const {
  const std::size_t dynamic = launch_->dynamic_shared_bytes, both = static_shared_bytes_ + dynamic;
  if (static_shared_bytes_ > kSharedBytesUnasked) {
    refuse(fmt::format("{} bytes of static shared memory, a kernel has {}", static_shared_bytes_, kSharedBytesUnasked));
  }
  if (both > kSharedBytes) {
    refuse(fmt::format("{} bytes of static and {} of dynamic shared memory, a block has {}", static_shared_bytes_,
                       dynamic, kSharedBytes));
  }
  if (both > kSharedBytesUnasked && dynamic <= kSharedBytesUnasked) {
    refuse(fmt::format(
        "{} bytes of static and {} of dynamic shared memory, together more than {}, which simt::launch asks for "
        "only if the dynamic part alone is larger",
        static_shared_bytes_, dynamic, kSharedBytesUnasked));
  }
}

// All lanes of the warp wait, at least one of them for others of the warp, which will not come: says why not.
void Machine::fail_stuck(unsigned number) const {
  const Warp& warp = warps_[number];
  const unsigned first = number * kWarpLanes;
  const auto lowest = [](unsigned lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); };
  for (unsigned lanes = warp.at_warp; lanes != 0; lanes &= lanes - 1) {
    const unsigned thread = first + lowest(lanes), mask = threads_[thread].mask;
    if (const unsigned missing = mask & ~warp.lanes) {
      fail("a mask names a lane that the block lacks",
           fmt::format("{}; warp {} has no lane {}", waiting(thread), number, lowest(missing)));
    }
    if (const unsigned exited = mask & warp.exited) {
      fail("a mask names an exited lane",
           fmt::format("{}; thread {} has exited", waiting(thread), index_of(first + lowest(exited))));
    }
  }
  for (unsigned lanes = warp.at_warp; lanes != 0; lanes &= lanes - 1) {
    const Thread& thread = threads_[first + lowest(lanes)];
    for (unsigned others = thread.mask & warp.at_warp; others != 0; others &= others - 1) {
      const Thread& other = threads_[first + lowest(others)];
      if (other.mask == thread.mask && other.operation == thread.operation) continue;
      fail("lanes of a warp meet in different operations or masks",
           waiting(first + lowest(lanes)) + "; " + waiting(first + lowest(others)));
    }
  }
  const unsigned lane = lowest(warp.at_warp);
  fail("deadlock", waiting(first + lane) + "; " + waiting(first + lowest(threads_[first + lane].mask & warp.at_block)));
}

void Machine::fail(const std::string& what, const std::string& threads) const {
  throw EmulationError(fmt::format("{}, block ({},{},{}): {}", what, blockIdx.x, blockIdx.y, blockIdx.z, threads));
}

// "thread (3,0,0) in __shfl_sync, mask 0xffffffff, at softmax.cu:41"
std::string Machine::waiting(unsigned number) const {
  const Thread& thread = threads_[number];
  if (warps_[number / kWarpLanes].at_block >> number % kWarpLanes & 1) {
    return fmt::format("thread {} in __syncthreads at {}:{}", index_of(number), thread.place.file, thread.place.line);
  }
  return fmt::format("thread {} in {}, mask {:#010x}, at {}:{}", index_of(number), name_of(thread.operation),
                     thread.mask, thread.place.file, thread.place.line);
}

std::string Machine::index_of(unsigned thread) const {
  return fmt::format("({},{},{})", indices_[thread].x, indices_[thread].y, indices_[thread].z);
}

}  // namespace simt
