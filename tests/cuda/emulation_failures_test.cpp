// What the emulation says of kernels that are wrong, and of launches that a GPU would refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <jari_simt.hpp>
#include <string>
#include <vector>

namespace {

using testing::MatchesRegex;

constexpr unsigned kAll = 0xffffffffu;

// What `launch` says when it fails.
template <class Function>
std::string failure_of(const Function& launch) {
  try {
    launch();
  } catch (const simt::EmulationError& error) {
    return error.what();
  }
  return "no failure";
}

constexpr int kDivergentLine = __LINE__ + 3;
__global__ void divergent_barrier() {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(EmulationFailures, DivergentBarrier) {
  const std::string text = failure_of([] { simt::launch(divergent_barrier, dim3(3), dim3(64), 0, nullptr); });
  EXPECT_THAT(text, MatchesRegex("divergent __syncthreads, block \\(0,0,0\\): thread \\(0,0,0\\) in __syncthreads at "
                                 ".*emulation_failures_test.cpp:" +
                                 std::to_string(kDivergentLine) +
                                 "; thread \\(16,0,0\\) in __syncthreads at .*emulation_failures_test.cpp:" +
                                 std::to_string(kDivergentLine + 2)));
}

constexpr int kExitedLine = __LINE__ + 3;
__global__ void exited_lane(float* x) {
  if (threadIdx.x >= 20) return;
  x[threadIdx.x] = __shfl_xor_sync(kAll, x[threadIdx.x], 1);
}

TEST(EmulationFailures, MaskNamesAnExitedLane) {
  std::vector<float> x(32);
  const std::string text = failure_of([&] { simt::launch(exited_lane, dim3(1), dim3(32), 0, nullptr, x.data()); });
  EXPECT_THAT(
      text, MatchesRegex("a mask names an exited lane, block \\(0,0,0\\): thread \\(0,0,0\\) in __shfl_xor_sync, mask "
                         "0xffffffff, at .*emulation_failures_test.cpp:" +
                         std::to_string(kExitedLine) + "; thread \\(20,0,0\\) has exited"));
}

__global__ void vote_of_all() { __ballot_sync(kAll, 1); }

TEST(EmulationFailures, MaskNamesALaneThatTheBlockLacks) {
  const std::string text = failure_of([] { simt::launch(vote_of_all, dim3(1), dim3(8, 5), 0, nullptr); });
  EXPECT_THAT(
      text,
      MatchesRegex("a mask names a lane that the block lacks, block \\(0,0,0\\): thread \\(0,4,0\\) in "
                   "__ballot_sync, mask 0xffffffff, at .*emulation_failures_test.cpp:[0-9]+; warp 1 has no lane 8"));
}

__global__ void different_operations() {
  if (threadIdx.x == 3) {
    __any_sync(kAll, 1);
  } else {
    __syncwarp();
  }
}

TEST(EmulationFailures, LanesMeetInDifferentOperations) {
  const std::string text = failure_of([] { simt::launch(different_operations, dim3(1), dim3(32), 0, nullptr); });
  EXPECT_THAT(
      text, MatchesRegex("lanes of a warp meet in different operations or masks, block \\(0,0,0\\): thread "
                         "\\(0,0,0\\) in __syncwarp, mask 0xffffffff, at .*emulation_failures_test.cpp:[0-9]+; thread "
                         "\\(3,0,0\\) in __any_sync, mask 0xffffffff, at .*emulation_failures_test.cpp:[0-9]+"));
}

__global__ void different_masks() { __syncwarp(threadIdx.x < 16 ? kAll : 0xffff0000u | 1u << threadIdx.x % 16); }

TEST(EmulationFailures, LanesMeetInDifferentMasks) {
  const std::string text = failure_of([] { simt::launch(different_masks, dim3(1), dim3(32), 0, nullptr); });
  EXPECT_THAT(
      text, MatchesRegex("lanes of a warp meet in different operations or masks, block \\(0,0,0\\): thread "
                         "\\(0,0,0\\) in __syncwarp, mask 0xffffffff, at .*emulation_failures_test.cpp:[0-9]+; thread "
                         "\\(16,0,0\\) in __syncwarp, mask 0xffff0001, at .*emulation_failures_test.cpp:[0-9]+"));
}

__global__ void not_in_own_mask() { __syncwarp(0xfffffffeu); }

TEST(EmulationFailures, LaneIsMissingInItsOwnMask) {
  const std::string text = failure_of([] { simt::launch(not_in_own_mask, dim3(1), dim3(32), 0, nullptr); });
  EXPECT_THAT(
      text, MatchesRegex("a lane is missing in its own mask, block \\(0,0,0\\): thread \\(0,0,0\\) in __syncwarp, mask "
                         "0xfffffffe, at .*emulation_failures_test.cpp:[0-9]+"));
}

__global__ void shuffle_from_outside(int* x) {
  if (threadIdx.x < 16) x[threadIdx.x] = __shfl_sync(0xffffu, x[threadIdx.x], 16 + (threadIdx.x == 5));
}

TEST(EmulationFailures, ShuffleReadsALaneOutsideOfItsMask) {
  std::vector<int> x(32);
  const std::string text =
      failure_of([&] { simt::launch(shuffle_from_outside, dim3(1), dim3(32), 0, nullptr, x.data()); });
  EXPECT_THAT(text,
              MatchesRegex("a shuffle reads a lane outside of its mask, block \\(0,0,0\\): thread \\(0,0,0\\) in "
                           "__shfl_sync, mask 0x0000ffff, at .*emulation_failures_test.cpp:[0-9]+; it reads lane 16"));
}

__global__ void wait_for_each_other() {
  if (threadIdx.x % 32 < 8) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}

TEST(EmulationFailures, Deadlock) {
  const std::string text = failure_of([] { simt::launch(wait_for_each_other, dim3(1, 2), dim3(64), 0, nullptr); });
  EXPECT_THAT(text, MatchesRegex("deadlock, block \\(0,0,0\\): thread \\(8,0,0\\) in __syncwarp, mask 0xffffffff, at "
                                 ".*emulation_failures_test.cpp:[0-9]+; thread \\(0,0,0\\) in __syncthreads at "
                                 ".*emulation_failures_test.cpp:[0-9]+"));
}

__global__ void nothing() {}

std::string refusal_of(dim3 grid, dim3 block, std::size_t shared = 0) {
  return failure_of([&] { simt::launch(nothing, grid, block, shared, nullptr); });
}

TEST(EmulationFailures, LaunchesThatAGpuWouldRefuse) {
  EXPECT_EQ(refusal_of(dim3(1), dim3(1024)), "no failure");
  EXPECT_EQ(refusal_of(dim3(1), dim3(16, 1, 64)), "no failure");
  EXPECT_EQ(refusal_of(dim3(1), dim3(1), 227 * 1024), "no failure");
  EXPECT_EQ(refusal_of(dim3(1), dim3(1025)),
            "a GPU would refuse this launch: the block (1025,1,1) has more than 1024 threads");
  EXPECT_EQ(refusal_of(dim3(1), dim3(65536, 65536, 32)),
            "a GPU would refuse this launch: the block (65536,65536,32) has more than 1024 threads");
  EXPECT_EQ(refusal_of(dim3(1), dim3(1, 1, 65)),
            "a GPU would refuse this launch: the block (1,1,65) has more than 64 threads in z");
  EXPECT_EQ(refusal_of(dim3(1), dim3(4, 0)), "a GPU would refuse this launch: the block (4,0,1) has no threads");
  EXPECT_EQ(refusal_of(dim3(1, 1, 0), dim3(1)), "a GPU would refuse this launch: the grid (1,1,0) has no blocks");
  EXPECT_EQ(refusal_of(dim3(2147483648u), dim3(1)),
            "a GPU would refuse this launch: the grid (2147483648,1,1) has more than 2147483647 blocks in x");
  EXPECT_EQ(refusal_of(dim3(1, 65536), dim3(1)),
            "a GPU would refuse this launch: the grid (1,65536,1) has more than 65535 blocks in y or z");
  EXPECT_EQ(refusal_of(dim3(1, 1, 65536), dim3(1)),
            "a GPU would refuse this launch: the grid (1,1,65536) has more than 65535 blocks in y or z");
  EXPECT_EQ(refusal_of(dim3(1), dim3(1), 227 * 1024 + 1),
            "a GPU would refuse this launch: 232449 bytes of dynamic shared memory, a block has 232448");
}

template <int kBytes>
__global__ void use_static_shared() {
  JARI_SHARED(unsigned char, half, kBytes / 2);
  JARI_SHARED(unsigned char, other_half, kBytes / 2);
  half[0] = other_half[0] = 0;
}

TEST(EmulationFailures, StaticAndDynamicSharedMemoryCountTogether) {
  const auto refusal = [](auto* kernel, std::size_t dynamic) {
    return failure_of([&] { simt::launch(kernel, dim3(1), dim3(1), dynamic, nullptr); });
  };
  EXPECT_EQ(refusal(use_static_shared<49152>, 0), "no failure");
  EXPECT_EQ(refusal(use_static_shared<40000>, 9152), "no failure");
  EXPECT_EQ(refusal(use_static_shared<40000>, 192448), "no failure");
  EXPECT_EQ(refusal(use_static_shared<49154>, 0),
            "a GPU would refuse this launch: 49154 bytes of static shared memory, a kernel has 49152");
  EXPECT_EQ(
      refusal(use_static_shared<40000>, 192449),
      "a GPU would refuse this launch: 40000 bytes of static and 192449 of dynamic shared memory, a block has 232448");
  EXPECT_EQ(
      refusal(use_static_shared<40000>, 9153),
      "a GPU would refuse this launch: 40000 bytes of static and 9153 of dynamic shared memory, together more than "
      "49152, which simt::launch asks for only if the dynamic part alone is larger");
}

TEST(EmulationFailures, WhatBelongsIntoAKernelIsRefusedOutside) {
  EXPECT_EQ(failure_of([] { __syncthreads(); }), "__syncthreads outside of a kernel");
  EXPECT_EQ(failure_of([] { __shfl_sync(kAll, 1, 0); }), "a warp operation outside of a kernel");
  EXPECT_EQ(failure_of([] {
              JARI_SHARED(int, array, 1);
              array[0] = 0;
            }),
            "JARI_SHARED outside of a kernel");
  EXPECT_EQ(failure_of([] {
              JARI_DYNAMIC_SHARED(int, array);
              *array = 0;
            }),
            "JARI_DYNAMIC_SHARED outside of a kernel");
}

__global__ void launch_another() { simt::launch(nothing, dim3(1), dim3(1), 0, nullptr); }

TEST(EmulationFailures, AKernelLaunchesNoKernel) {
  EXPECT_EQ(failure_of([] { simt::launch(launch_another, dim3(1), dim3(1), 0, nullptr); }),
            "a kernel launches a kernel");
}

}  // namespace
